import stored from './examples.json' with { type: 'json' }
import type { Rule } from './model/rule.ts'

/** The catalogue of rules as Markdown; docs/rules.md is this text. */
export function catalogue(rules: readonly Rule[]): string {
  const index = rules.map(rule => `| [\`${rule.id}\`](#${rule.id}) | ${counts(rule)} | ${rule.title} |`)
  const intro = [
    '# Rules',
    'Bailiwick checks the objects that a cluster would receive, after every overlay and patch. A finding points to the line that wrote the offending value. This file is generated: `npm run generate`.',
    ['| rule | counts as | what it finds |', '|---|---|---|', ...index].join('\n'),
  ]
  return `${[...intro, ...rules.map(chapter)].join('\n\n')}\n`
}

function chapter(rule: Rule): string {
  return [
    `## ${rule.id}`,
    `**${rule.title}** (${counts(rule)})`,
    rule.why,
    ...(rule.source ? [`Source: ${rule.source}`] : []),
    `What to do: ${rule.docs}`,
    ...exampleParts(exampleOf(rule.id), rule.level === 'error' || rule.id.startsWith('yaml-')),
  ].join('\n\n')
}

/** `isDamaged`: a damaged file may not be valid YAML. */
function exampleParts(example: RuleExample | undefined, isDamaged: boolean): string[] {
  if (!example) return []
  const { files, line, message, fix, patch } = example
  return [
    ...files.map(({ repository, path, text }, at) => {
      const where = repository === 'fleet' ? 'in the fleet repository' : 'in the repository of a tenant'
      return `${at === 0 ? 'Example' : 'With'}, \`${path}\` ${where}:\n\n${fenced(text, isDamaged ? '' : path)}`
    }),
    `${line === 0 ? 'Finding' : `At line ${line}`}: ${message}`,
    `Fix: ${fix}`,
    ...(patch ? [fenced(`${patch.join('\n')}\n`, '.diff')] : []),
  ]
}

const LANGUAGES = [
  ['.yaml', 'yaml'],
  ['.yml', 'yaml'],
  ['.json', 'json'],
  ['.diff', 'diff'],
] as const

/** A code block with a fence that the text does not contain. */
function fenced(text: string, path: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map(run => run.length))
  const fence = '`'.repeat(Math.max(3, longest + 1))
  const language = LANGUAGES.find(([end]) => path.endsWith(end))?.[1] ?? 'text'
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`
}

function counts({ severity, level = 'violation', profile = 'baseline' }: Rule): string {
  if (level === 'error') return 'error'
  if (level === 'warning') return `warning, ${severity}`
  return profile === 'restricted' ? `${severity}, a warning in the profile \`baseline\`` : severity
}

interface ExampleFile {
  /** `fleet`, or the repository of a tenant. */
  readonly repository: string
  readonly path: string
  readonly text: string
}

/** A small change on which exactly one rule reports, and the rule's finding. */
export interface RuleExample {
  /** What is special about it. */
  readonly title: string
  /** The case of test/attacks, and its variant, that it is taken from. */
  readonly case: string
  readonly variant: string
  /** Files that are added or changed; the finding points into the first one. */
  readonly files: readonly ExampleFile[]
  /** Line of the finding in the first file; 0 for the file itself. */
  readonly line: number
  readonly message: string
  readonly fix: string
  /** The edit that certainly fixes it, as a unified diff; absent where a person must choose. */
  readonly patch?: readonly string[]
}

const examples: ReadonlyMap<string, RuleExample> = new Map(Object.entries(stored))

/** The example of a rule; undefined if no tested case is small enough. Written by test/attacks/make-examples.ts. */
export function exampleOf(rule: string): RuleExample | undefined {
  return examples.get(rule)
}
