// A document of a project, drawn. Every node is an element of ours with text in it: nothing that stands in a document
// becomes markup, nothing is loaded from elsewhere, and a link shows where it leads.
import "./markdown.css";

import { Fragment, type ReactNode, useMemo } from "react";

import { Said } from "../parts/Said";
import { useSay } from "../words/words";
import { addressOf } from "./address";
import { type Inline, plainOf } from "./inline";
import { type Block, parse } from "./parse";
import { words } from "./words";

export interface MarkdownProps {
  text: string;
  /** Its path in the repository: what it names is looked for from there. */
  path?: string;
  /** Shows another file of the same tree, where there is such a file. */
  link?: (path: string, inside: ReactNode) => ReactNode | null;
  picture?: (path: string, about: string) => ReactNode | null;
}

export default function Markdown(props: MarkdownProps) {
  const say = useSay(words);
  const { blocks, rest } = useMemo(() => parse(props.text), [props.text]);
  return (
    <div className="markdown">
      <Blocks blocks={blocks} of={props} />
      {rest !== "" && (
        <>
          <p className="attention small">{say("rest")}</p>
          <pre tabIndex={0}>
            <Said text={rest} lines />
          </pre>
        </>
      )}
    </div>
  );
}

function Blocks({ blocks, of }: { blocks: Block[]; of: MarkdownProps }) {
  return blocks.map((block, index) => <BlockShown key={index} block={block} of={of} />);
}

/** The headings of a document stand below those of the page. */
const HEADINGS = ["h3", "h4", "h5", "h6", "h6", "h6"] as const;

function BlockShown({ block, of }: { block: Block; of: MarkdownProps }) {
  switch (block.kind) {
    case "heading": {
      const Heading = HEADINGS[block.level - 1] ?? "h6";
      return (
        <Heading className={`markdown-${block.level}`}>
          <Inlines parts={block.text} of={of} />
        </Heading>
      );
    }
    case "paragraph":
      return (
        <p>
          <Inlines parts={block.text} of={of} />
        </p>
      );
    case "code":
      return (
        <pre tabIndex={0}>
          <Said text={block.text} lines />
        </pre>
      );
    case "quote":
      return (
        <blockquote>
          <Blocks blocks={block.blocks} of={of} />
        </blockquote>
      );
    case "list":
      return <ListShown block={block} of={of} />;
    case "table":
      return <TableShown block={block} of={of} />;
    case "rule":
      return <hr />;
  }
}

function ListShown({ block, of }: { block: Extract<Block, { kind: "list" }>; of: MarkdownProps }) {
  const say = useSay(words);
  const items = block.items.map((item, index) => (
    <li key={index} className={item.isDone === null ? "" : "markdown-box"}>
      {item.isDone !== null && (
        <span role="img" aria-label={say(item.isDone ? "done" : "open")}>
          {item.isDone ? "☑ " : "☐ "}
        </span>
      )}
      <ItemShown blocks={item.blocks} of={of} />
    </li>
  ));
  return block.start === null ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>;
}

/** What is one line stands in one line. */
function ItemShown({ blocks, of }: { blocks: Block[]; of: MarkdownProps }) {
  const [first, ...rest] = blocks;
  if (first?.kind !== "paragraph") return <Blocks blocks={blocks} of={of} />;
  return (
    <>
      <Inlines parts={first.text} of={of} />
      <Blocks blocks={rest} of={of} />
    </>
  );
}

function TableShown({ block, of }: { block: Extract<Block, { kind: "table" }>; of: MarkdownProps }) {
  return (
    <div className="table-wrap" tabIndex={0} role="group">
      <table>
        <thead>
          <tr>
            {block.head.map((cell, index) => (
              <th key={index} scope="col">
                <Inlines parts={cell} of={of} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {block.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column} data-label={plainOf(block.head[column] ?? [])}>
                  <Inlines parts={cell} of={of} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Inlines({ parts, of }: { parts: Inline[]; of: MarkdownProps }): ReactNode {
  return parts.map((part, index) => (
    <Fragment key={index}>
      <InlineShown part={part} of={of} />
    </Fragment>
  ));
}

function InlineShown({ part, of }: { part: Inline; of: MarkdownProps }): ReactNode {
  switch (part.kind) {
    case "text":
      return <Words text={part.text} />;
    case "code":
      return (
        <code>
          <Said text={part.text} lines />
        </code>
      );
    case "strong":
      return (
        <strong>
          <Inlines parts={part.inside} of={of} />
        </strong>
      );
    case "emphasis":
      return (
        <em>
          <Inlines parts={part.inside} of={of} />
        </em>
      );
    case "struck":
      return (
        <s>
          <Inlines parts={part.inside} of={of} />
        </s>
      );
    case "break":
      return <br />;
    case "link":
      return <LinkShown part={part} of={of} />;
    case "picture":
      return <PictureShown part={part} of={of} />;
  }
}

/** The spaces at the ends stand between it and what is beside it. */
function Words({ text }: { text: string }) {
  return (
    <>
      {/^\s/.test(text) && " "}
      {text.trim() !== "" && <Said text={text} />}
      {text.trim() !== "" && /\s$/.test(text) && " "}
    </>
  );
}

function LinkShown({ part, of }: { part: Extract<Inline, { kind: "link" }>; of: MarkdownProps }): ReactNode {
  const address = addressOf(part.to, of.path ?? "", window.location.host);
  const inside = <Inlines parts={part.inside} of={of} />;
  const isShown = plainOf(part.inside).trim() === part.to;
  if (address.kind === "web") {
    return (
      <>
        <a href={address.href} target="_blank" rel="noopener noreferrer nofollow" referrerPolicy="no-referrer">
          {inside}
        </a>
        {!isShown && <span className="dim small"> ({address.host})</span>}
      </>
    );
  }
  const file = address.kind === "file" ? of.link?.(address.path, inside) : null;
  if (file != null) return file;
  return (
    <>
      {inside}
      {!isShown && (
        <span className="dim small">
          {" "}
          (<Said text={part.to} className="mono" />)
        </span>
      )}
    </>
  );
}

/** Pictures of the tree are shown, and no others: asking for one elsewhere would say that somebody looks. */
function PictureShown({ part, of }: { part: Extract<Inline, { kind: "picture" }>; of: MarkdownProps }): ReactNode {
  const say = useSay(words);
  const address = addressOf(part.from, of.path ?? "", window.location.host);
  const file = address.kind === "file" ? of.picture?.(address.path, part.about) : null;
  if (file != null) return file;
  return (
    <span className="markdown-away">
      <Said text={say("picture", { about: part.about })} /> <Said text={part.from} className="mono small" />
    </span>
  );
}
