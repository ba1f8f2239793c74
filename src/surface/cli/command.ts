import manifest from '../../../package.json' with { type: 'json' }

/** What a command may touch of the outside; tests hand it plain values. */
export interface Io {
  stdout(text: string): void
  stderr(text: string): void
  readonly stdin: AsyncIterable<Uint8Array | string>
  /** Absolute path that relative arguments start from. */
  readonly cwd: string
  /** The reader's terminal shows colors. */
  readonly color?: boolean
  /** stdout is a terminal. */
  readonly isTerminal?: boolean
  /** The terminal supports hyperlinks (OSC 8). */
  readonly hasLinks?: boolean
  /** Width of the terminal; absent where it is not known. */
  readonly columns?: number
  /** Prints only blocking findings and the result. */
  readonly quiet?: boolean
  /** Shows the progress of a long step; absent when no person is waiting. */
  readonly progress?: (stage: string) => void
  /** Returns a signal for Ctrl-C, which then no longer ends the process; absent when no person can interrupt. */
  readonly interrupted?: () => AbortSignal
  /** The variables of the process; absent: its own. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** A command in the help, with what it does; it is read when it is run. */
export type ListedCommand = readonly [name: string, summary: string, load: () => Promise<Command>]

/** One command of `bailiwick`: one file, listed in src/surface/cli/commands.ts. */
export interface Command {
  readonly name: string
  readonly usage: string
  /** Resolves with the exit code: 0 pass or done, 1 new violations, 2 could not be evaluated or bad usage. Throws BailiwickError for the latter. */
  run(args: readonly string[], io: Io): Promise<number>
}

/** Version of this program, as its package says. */
export const programVersion = (): string => manifest.version

/** The day in UTC, `YYYY-MM-DD`: waivers hold until one. */
export const today = (): string => new Date().toISOString().slice(0, 10)
