import type { JSX } from 'preact';
import { type Block, blocksOf, type Part } from '../logic/markdown';

// Markdown shows an answer as a chat does. Its elements are made one by one: no text of a model becomes HTML.
export function Markdown({ text }: { text: string }) {
  return <div class="markdown">{blocksOf(text).map(block)}</div>;
}

function block(b: Block, i: number): JSX.Element {
  switch (b.kind) {
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, and the keyboard has to reach them
        <pre class="text" tabIndex={0} key={i}>
          {b.text}
        </pre>
      );
    case 'list': {
      const items = b.items.map((parts, n) => <li key={n}>{parts.map(show)}</li>);
      return b.ordered ? (
        <ol start={b.start} class={`depth${b.depth}`} key={i}>
          {items}
        </ol>
      ) : (
        <ul class={`depth${b.depth}`} key={i}>
          {items}
        </ul>
      );
    }
    case 'quote':
      return <blockquote key={i}>{b.blocks.map(block)}</blockquote>;
    case 'table':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: wide tables scroll, and the keyboard has to reach them
        <div class="table" tabIndex={0} key={i}>
          <table>
            <thead>
              <tr>
                {b.head.map((parts, n) => (
                  <th class={b.align[n]} key={n}>
                    {parts.map(show)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {b.rows.map((row, r) => (
                <tr key={r}>
                  {row.map((parts, n) => (
                    <td class={b.align[n]} key={n}>
                      {parts.map(show)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    default: // a heading of an answer is none of the page
      return (
        <p class={b.kind === 'heading' ? 'said-text heading' : 'said-text'} key={i}>
          {b.parts.map(show)}
        </p>
      );
  }
}

function show(p: Part, i: number) {
  switch (p.kind) {
    case 'code':
      return <code key={i}>{p.text}</code>;
    case 'strong':
      return <strong key={i}>{p.text}</strong>;
    case 'em':
      return <em key={i}>{p.text}</em>;
    case 'link':
      return (
        <a key={i} href={p.to} title={p.to} target="_blank" rel="noopener noreferrer">
          {p.text}
        </a>
      );
    default:
      return p.text;
  }
}
