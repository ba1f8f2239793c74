import { changesLines } from '../report/changes/changes-lines.ts'
import { COPY_HELP, copyOptions } from './check-options.ts'
import type { Command } from './command.ts'
import { ageIdentities } from './encrypted-seals.ts'
import { errorLine } from './error-line.ts'
import { evaluateCopy } from './evaluate-copy.ts'

const USAGE = 'diff [DIR] [--base REF] [-o text|json] [OPTION]...'

/** `bailiwick diff`: shows how a change alters the objects that the clusters get. */
export const diff: Command = {
  name: 'diff',
  usage: `${USAGE}

  --base REF     compare with this commit (default: HEAD, which shows uncommitted changes)
  -o text|json   text for people
${COPY_HELP}

Secret values are not shown. Exit code 0: done; 2: something could not be rendered, so the list may be incomplete.`,
  async run(args, io) {
    const given = copyOptions(args, io.cwd, USAGE)
    const options = { ...given, base: given.base ?? 'HEAD' }
    const { output } = options
    const env = io.env ?? process.env
    io.progress?.('reading and rendering the fleet')
    const { changes, verdict } = await evaluateCopy(options, await ageIdentities(options.sopsAgeKeyFile, env), env)
    if (!changes) throw new Error('nothing was compared')
    if (output === 'json') io.stdout(`${JSON.stringify(changes, null, 2)}\n`)
    else
      io.stdout(
        `${changesLines(changes, true)
          .map(line => (io.color ? colored(line) : line))
          .join('\n')}\n`,
      )
    const { errors } = verdict
    for (const error of errors.filter(({ state }) => state === 'new')) io.stderr(`${errorLine(error)}\n`)
    return errors.length > 0 ? 2 : 0
  },
}

/** SGR codes by the first character of a line. */
const COLORS = new Map([
  ['+', '32'],
  ['-', '31'],
  ['~', '33'],
])

function colored(line: string): string {
  const sgr = COLORS.get(line.trimStart().slice(0, 1))
  return sgr === undefined ? line : `\u001b[${sgr}m${line}\u001b[0m`
}
