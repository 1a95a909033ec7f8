// What went wrong, in one form: the server's own words, or that it could not be reached.
import type { Problem } from "./schema";

/** The server has refused something and says why. */
export class Refused extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.title);
    this.name = "Refused";
    this.problem = problem;
  }

  /** The word by which programs know what went wrong. */
  get code(): Problem["type"] {
    return this.problem.type;
  }
}

/** Nobody answered: the server is gone, or the way to it. Whether it has heard is not known. */
export class Unreached extends Error {
  constructor(cause: unknown) {
    super("the server cannot be reached", { cause });
    this.name = "Unreached";
  }

  /** Whether it was waited for, and nothing came. */
  get isLate(): boolean {
    return this.cause instanceof DOMException && this.cause.name === "TimeoutError";
  }
}

/** Reads what a server says that refuses; one that says nothing understandable refuses all the same. */
export async function refusal(response: Response): Promise<Refused> {
  try {
    const problem = (await response.json()) as Problem;
    if (typeof problem.title === "string") return new Refused(problem);
  } catch {
    // Whoever stands in front of the server has answered in its place.
  }
  return new Refused({ type: "internal", status: response.status, title: `${response.status} ${response.statusText}` });
}
