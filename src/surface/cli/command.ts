import type { Given } from './given.ts'
import type { Usage } from './usage.ts'

/** A command's access to the outside; tests pass plain values. */
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
  /** Width of the terminal; absent if unknown. */
  readonly columns?: number
  /** Prints only blocking findings and the result. */
  readonly quiet?: boolean
  /** Shows the progress of a long step; absent when no person is waiting. */
  readonly progress?: (stage: string) => void
  /** The variables of the process; absent: its own. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** A command in the help, with its summary; loaded when it is run. */
export type ListedCommand = readonly [name: string, summary: string, load: () => Promise<Command>]

/** One command of `bailiwick`, listed in src/surface/cli/commands.ts. */
export interface Command extends Usage {
  /** Resolves with the exit code: 0 pass or done, 1 new violations, 2 not evaluated. Throws BailiwickError for 2. */
  run(given: Given, io: Io): Promise<number>
}

/** The current UTC day, `YYYY-MM-DD`; waivers end on a day. */
export const today = (): string => new Date().toISOString().slice(0, 10)
