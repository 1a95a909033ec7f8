// The same as reader.c on Node, over a pipe.
import { spawn } from "node:child_process";

const [program, ...rest] = process.argv.slice(2);
const agent = spawn(program, rest, { detached: true, stdio: ["ignore", "pipe", "inherit"] });
agent.stdout.on("data", (bytes) => {
  if (bytes.includes("[/USER_QUESTION]")) process.kill(-agent.pid, "SIGSTOP");
});
