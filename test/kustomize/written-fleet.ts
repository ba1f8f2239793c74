import fc from 'fast-check'

/** A step that a value must have come through: the line is that of `marker` in the file. */
export interface ExpectedStep {
  readonly step: string
  readonly file: string
  readonly marker: string
}

/** Where a unique word was written, and through what a value that holds it comes into an object. */
interface Writer {
  readonly file: string
  readonly via: readonly ExpectedStep[]
}

export interface WrittenFleet {
  readonly files: Readonly<Record<string, string>>
  readonly writers: ReadonlyMap<string, Writer>
  /** Words that must reach an object. */
  readonly seen: ReadonlySet<string>
  /** Trails of objects, by a word of their name. */
  readonly trails: ReadonlyMap<string, readonly ExpectedStep[]>
}

const FLAGS = [
  'component', 'prefix', 'suffix', 'namespace', 'labels', 'commonLabels', 'annotations', 'images', 'patchFile',
  'patchInline', 'patchJson', 'patchSmp', 'generator', 'envs', 'file', 'secret', 'merge', 'replacement',
  'replacementFile', 'delimiter', 'embedded', 'builtin', 'replicas',
] as const // biome-ignore format: a list of names

type Flags = Readonly<Record<(typeof FLAGS)[number], boolean>>
type Quotes = 'plain' | 'single' | 'double'

export interface Shape {
  readonly flags: Flags
  readonly quotes: readonly Quotes[]
  /** How many lines of comment stand before each part. */
  readonly comments: readonly number[]
}

export const SHAPE: fc.Arbitrary<Shape> = fc.record({
  flags: fc.record(
    Object.fromEntries(FLAGS.map(flag => [flag, fc.boolean()])) as Record<keyof Flags, fc.Arbitrary<boolean>>,
  ),
  quotes: fc.array(fc.constantFrom('plain' as const, 'single' as const, 'double' as const), {
    minLength: 3,
    maxLength: 9,
  }),
  comments: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 3, maxLength: 9 }),
})

/** Writes files in which every value is a word that stands nowhere else, and keeps who wrote it. */
export class FleetWriter {
  readonly writers = new Map<string, Writer>()
  readonly seen = new Set<string>()
  private readonly texts = new Map<string, string>()
  private readonly shape: Shape
  private count = 0

  constructor(shape: Shape) {
    this.shape = shape
  }

  /** A new word; `always` says that it must reach an object. */
  word(file: string, via: readonly ExpectedStep[] = [], always = true): string {
    const word = `w${++this.count}x`
    this.writers.set(word, { file, via })
    if (always) this.seen.add(word)
    return word
  }

  /** The same in quotes, or not. */
  value(file: string, via: readonly ExpectedStep[] = [], always = true): string {
    return this.quoted(this.word(file, via, always))
  }

  quoted(text: string): string {
    const quotes = this.shape.quotes[this.count % this.shape.quotes.length]
    return quotes === 'plain' ? text : quotes === 'single' ? `'${text}'` : `"${text}"`
  }

  marker(): string {
    return `m${++this.count}m`
  }

  add(file: string, text: string): void {
    const lines = this.shape.comments[++this.count % this.shape.comments.length]!
    this.texts.set(
      file,
      `${this.texts.get(file) ?? ''}${'# nothing\n'.repeat(file.endsWith('.txt') ? 0 : lines)}${text}`,
    )
  }

  files(): Record<string, string> {
    return Object.fromEntries(this.texts)
  }
}
