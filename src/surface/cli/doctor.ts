import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { BailiwickError } from '../../base/errors.ts'
import { visible } from '../../base/visible.ts'
import { fitLines } from '../../report/text/fit-budget.ts'
import type { Command, Io } from './command.ts'
import { table } from './terminal.ts'
import { TEXT_OR_JSON } from './usage.ts'

const STATES = ['wrong', 'weak', 'unknown', 'ok']

/** `bailiwick doctor`: lists the problems of an App installation and how to fix them. */
export const doctor: Command = {
  name: 'doctor',
  usage: [
    [
      '[--env FILE]',
      'file with the settings (default: .env in the current folder, if present); variables of the environment take precedence',
    ],
    ['[--process web|worker]', 'which process the settings are for (default: web)'],
    TEXT_OR_JSON,
  ],
  notes: `Checks the settings, Redis, the clusters file, and on GitHub the App's key, permissions, last webhook, and the repositories and accounts that settings name. Of each cluster that this process applies to, it checks the connection, the
certificate, and the rights of the worker. It writes only a file into CACHE_DIR, which it removes, and prints no secret. Exit code 0: all is well; 1: something is weak or wrong; 2: something could not be asked.`,
  async run(given, io) {
    const role = given.one('process') === 'worker' ? 'worker' : 'web'
    const env = { ...(await settingsOf(given.one('env'), io)), ...(io.env ?? process.env) }
    io.progress?.('asking GitHub, Redis and clusters')
    // this module loads the GitHub and Redis clients, which no other command needs
    const { diagnose } = await import('../doctor/diagnose.ts')
    const found = await diagnose(env, role)
    const sorted = STATES.flatMap(state => found.filter(one => one.state === state))
    if (given.format === 'json') io.stdout(`${JSON.stringify({ checks: sorted }, null, 2)}\n`)
    else io.stdout(`${text(sorted, io.columns).join('\n')}\n`)
    if (sorted.some(({ state }) => state === 'weak' || state === 'wrong')) return 1
    return sorted.some(({ state }) => state === 'unknown') ? 2 : 0
  },
}

async function settingsOf(file: string | undefined, io: Io): Promise<NodeJS.Dict<string>> {
  try {
    return parseEnv(await readFile(resolve(io.cwd, file ?? '.env'), 'utf8'))
  } catch (cause) {
    if (file === undefined && (cause as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new BailiwickError('usage', `${file ?? '.env'} cannot be read`, { fix: 'Name a file that exists.', cause })
  }
}

interface Found {
  readonly state: string
  readonly check: string
  readonly message: string
  readonly fix: string
}

function text(found: readonly Found[], width = 100): string[] {
  const rows = found.map(({ state, check, message }) => [state, check, visible(message, 500)])
  const advice = found.filter(({ fix }) => fix !== '')
  return [
    ...table(['STATE', 'CHECK', 'FOUND'], rows, width),
    ...(advice.length > 0 ? ['', 'What to do'] : []),
    ...fitLines(
      advice.map(({ check, fix }) => `  ${visible(`${check}: ${sentence(fix)}`, 600)}`),
      width,
    ),
  ]
}

const sentence = (fix: string) => fix.slice(0, 1).toUpperCase() + fix.slice(1)
