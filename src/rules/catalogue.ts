import stored from './examples.json' with { type: 'json' }
import type { Rule } from './model/rule.ts'

/** What rules ask about, by the folder of src/rules that they are in; '' for those in none. */
const AREAS: Readonly<Record<string, string>> = {
  namespaces: 'Where may a tenant write?',
  identity: 'As which account is it applied?',
  rbac: 'What do roles and bindings give?',
  references: 'What may an object name?',
  sources: 'Where does content come from?',
  secrets: 'Who can read what is secret?',
  workloads: 'What may run, and be reached?',
  capsule: 'What does Capsule refuse, and what weakens it?',
  policies: 'What do admission policies say?',
  ownership: 'What may be taken over or deleted?',
  schema: 'Does the API server accept the object?',
  kustomize: 'Is what kustomize builds what was written?',
  git: 'Is what Flux reads what Git shows?',
  '': 'Is the fleet itself in order?',
}

/** The rules as Markdown; docs/rules.md is this text. `areaOf`: the folder of src/rules that a rule is in. */
export function catalogue(rules: readonly Rule[], areaOf: (id: string) => string): string {
  const byArea = Map.groupBy(rules, ({ id }) => areaOf(id))
  const index = Object.entries(AREAS).map(([area, question]) => {
    const links = (byArea.get(area) ?? []).map(({ id }) => `[${id}](#${id})`)
    return `- **${question}** ${links.join(', ')}`
  })
  const intro = [
    '# Rules',
    'For everyone who meets a finding. Bailiwick checks the objects that a cluster would receive, after every overlay and patch; a finding points to the line that wrote the offending value. `bailiwick explain RULE` shows the whole text of a rule, and an example with its fix. This file is generated: `npm run generate`.',
    index.join('\n'),
  ]
  const chapters = Object.entries(AREAS).flatMap(([area, question]) => [
    `## ${question}`,
    ...(byArea.get(area) ?? []).map(chapter),
  ])
  return `${[...intro, ...chapters].join('\n\n')}\n`
}

const WHY_WORDS = 25
const REMEDY_WORDS = 40

function chapter(rule: Rule): string {
  return [
    `### ${rule.id}`,
    `**${rule.title}** (${counts(rule)}). ${beginning(rule.why, WHY_WORDS)}${rule.source ? ` Source: ${rule.source}` : ''}`,
    `What to do: ${beginning(rule.docs, REMEDY_WORDS)}`,
  ].join('\n\n')
}

/** The first sentences of a text, with so many words in all. */
function beginning(text: string, words: number): string {
  const [first = '', ...others] = text.split(/(?<=[.:])\s+(?=[A-Z`])/)
  const count = (one: string) => one.split(/\s+/).length
  let shown = first
  for (const sentence of others) {
    if (count(shown) + count(sentence) > words) break
    shown += ` ${sentence}`
  }
  return shown
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
