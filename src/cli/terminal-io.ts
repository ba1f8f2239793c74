import type { Io } from './command.ts'

/**
 * Output capabilities of the terminal. Colors follow https://no-color.org and FORCE_COLOR. Links are used only in terminals known to
 * support them, because others print the escape sequence.
 */
export function terminalIo(
  env: NonNullable<Io['env']>,
  stdoutIsTerminal: boolean,
  width?: number,
): Pick<Io, 'color' | 'isTerminal' | 'hasLinks' | 'columns'> {
  const columns = columnsOf(env, width)
  const isDumb = env.TERM === 'dumb'
  const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '0'
  return {
    isTerminal: stdoutIsTerminal,
    ...(columns === undefined ? {} : { columns }),
    color: !env.NO_COLOR && (forced || (stdoutIsTerminal && !isDumb)),
    hasLinks: stdoutIsTerminal && !isDumb && opensLinks(env),
  }
}

/** Narrower, words no longer fit beside their titles. */
const NARROWEST = 60

/** What the variable COLUMNS says, else the width of the terminal. */
function columnsOf({ COLUMNS = '' }: NonNullable<Io['env']>, width: number | undefined): number | undefined {
  const columns = /^[1-9]\d{0,4}$/.test(COLUMNS) ? Number(COLUMNS) : width
  // a terminal that does not know its width says 0
  return !columns ? undefined : Math.max(NARROWEST, columns)
}

/** Terminals that identify themselves and support links. */
function opensLinks(env: NonNullable<Io['env']>): boolean {
  if (env.CI !== undefined) return false
  if (['iTerm.app', 'WezTerm', 'vscode', 'ghostty', 'Hyper', 'Tabby'].includes(env.TERM_PROGRAM ?? '')) return true
  return (
    env.KITTY_WINDOW_ID !== undefined ||
    env.WT_SESSION !== undefined ||
    env.ALACRITTY_WINDOW_ID !== undefined ||
    Number(env.VTE_VERSION ?? 0) >= 5000
  )
}
