import stored from './examples.json' with { type: 'json' }

/** A file of an example. */
interface ExampleFile {
  /** `fleet`, or the repository of a tenant. */
  readonly repository: string
  readonly path: string
  readonly text: string
}

/** A small change that exactly one rule answers, and what it answers. */
export interface RuleExample {
  /** What is special about it. */
  readonly title: string
  /** The case of test/attacks, and its variant, that it is taken from. */
  readonly case: string
  readonly variant: string
  /** What is added or changed; the finding points into the first one. */
  readonly files: readonly ExampleFile[]
  /** Line of the finding in the first file; 0 for the file itself. */
  readonly line: number
  readonly message: string
  readonly fix: string
  /** The edit that certainly fixes it, as a unified diff; absent where a person decides. */
  readonly patch?: readonly string[]
}

const examples: ReadonlyMap<string, RuleExample> = new Map(Object.entries(stored))

/** The example of a rule; undefined if no tested case is small enough. Written by test/attacks/make-examples.ts. */
export function exampleOf(rule: string): RuleExample | undefined {
  return examples.get(rule)
}
