import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { pythonLanguage } from '@codemirror/lang-python';
import { PostgreSQL, SQLite, sql } from '@codemirror/lang-sql';
import { bracketMatching, LanguageSupport, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import { useEffect, useRef } from 'preact/hooks';
import { type Place, parameterAt, spaced } from './logic/complete';
import { offsetOf } from './logic/draft';
import type { Connection, Draft, Finding, Param } from './types';

export interface EditorProps {
  type: Draft['tool_type'];
  value: string;
  params: Param[];
  connection?: Connection;
  functions: string[]; // of the evaluator
  findings: Finding[];
  label: string;
  hint: string;
  change: (value: string) => void;
  ready: (insert: (text: string) => void) => void;
}

// nonce allows the style element of CodeMirror; see the policy of the page.
const nonce = document.querySelector<HTMLMetaElement>('meta[name=page-nonce]')?.content ?? '';

// Editor is CodeMirror with what is known of the tool: the tables of its connection, its parameters, and what was found
// wrong, at its place. Tab leaves it, as anywhere on the page. The text is the editor's own once it has begun: a value that
// came back a keystroke late would undo what was typed meanwhile.
export function Editor(p: EditorProps) {
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>();
  const language = useRef(new Compartment());
  const now = useRef(p);
  now.current = p;
  useEffect(() => {
    const v = new EditorView({
      parent: box.current!,
      state: EditorState.create({
        doc: p.value,
        extensions: [
          EditorView.cspNonce.of(nonce),
          lineNumbers(),
          history(),
          drawSelection(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          autocompletion(),
          lintGutter(),
          syntaxHighlighting(classHighlighter),
          EditorView.lineWrapping,
          placeholder(p.hint),
          EditorView.contentAttributes.of({ 'aria-label': p.label }),
          keymap.of([
            ...closeBracketsKeymap,
            ...defaultKeymap,
            ...historyKeymap,
            ...completionKeymap,
          ]),
          EditorView.updateListener.of(
            (u) => u.docChanged && now.current.change(u.state.doc.toString()),
          ),
          language.current.of(languageOf(now)),
        ],
      }),
    });
    view.current = v;
    p.ready((text) => {
      const at = v.state.selection.main;
      const insert = spaced(
        v.state.sliceDoc(Math.max(0, at.from - 1), at.from),
        text,
        v.state.sliceDoc(at.to, at.to + 1),
      );
      v.dispatch({
        changes: { from: at.from, to: at.to, insert },
        selection: { anchor: at.from + insert.length },
        userEvent: 'input',
      });
      v.focus();
    });
    return () => v.destroy();
  }, []);
  useEffect(() => {
    view.current?.dispatch({ effects: language.current.reconfigure(languageOf(now)) });
  }, [p.type, p.connection]);
  useEffect(() => {
    const v = view.current!;
    const text = v.state.doc.toString();
    const diagnostics = p.findings
      .filter((f) => f.line)
      .map((f) => {
        const from = offsetOf(text, f.line!, f.column ?? 1);
        const word = /^:?\w+/.exec(text.slice(from))?.[0].length ?? 1;
        return {
          from,
          to: Math.min(from + word, text.length),
          severity: f.severity,
          message: f.message,
        };
      });
    v.dispatch(setDiagnostics(v.state, diagnostics));
  }, [p.findings]);
  return <div class="editor" ref={box} />;
}

function languageOf(now: { current: EditorProps }): Extension {
  const { type, connection } = now.current;
  const complete = (c: CompletionContext) => parameters(c, now.current);
  if (type === 'PYTHON')
    return new LanguageSupport(pythonLanguage, pythonLanguage.data.of({ autocomplete: complete }));
  const dialect = connection?.kind === 'postgres' ? PostgreSQL : SQLite;
  const schema = Object.fromEntries(
    (connection?.tables ?? []).map((x) => [
      x.name,
      x.columns.map((c): Completion => ({ label: c.name, detail: c.type, type: 'property' })),
    ]),
  );
  return [
    sql({ dialect, schema, upperCaseKeywords: true }),
    dialect.language.data.of({ autocomplete: complete }),
  ];
}

// parameters offers the tool's parameters: behind : and {{, and in an expression anywhere, beside the functions.
function parameters(c: CompletionContext, p: EditorProps): CompletionResult | null {
  const line = c.state.doc.lineAt(c.pos);
  const place: Place | null = parameterAt(
    line.text.slice(0, c.pos - line.from),
    p.type,
    c.explicit,
  );
  if (!place) return null;
  const options: Completion[] = p.params
    .filter((x) => x.param_name)
    .map((x) => ({
      label: place.open + x.param_name,
      displayLabel: x.param_name,
      detail: x.param_type,
      info: x.description || undefined,
      type: 'variable',
      boost: 10,
      apply: (v, _, from, to) => {
        const behind = v.state.sliceDoc(to, to + 2) === '}}' && place.open.startsWith('{{') ? 2 : 0;
        const insert = (p.type === 'SQL' ? ':' : '') + x.param_name;
        v.dispatch({
          changes: { from, to: to + behind, insert },
          selection: { anchor: from + insert.length },
          userEvent: 'input.complete',
        });
      },
    }));
  if (p.type === 'PYTHON' && place.open === '')
    options.push(...p.functions.map((f) => ({ label: f, type: 'function' })));
  return { from: line.from + place.from, options, validFor: /^[:{]*\w*$/ };
}
