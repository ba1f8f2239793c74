import { BailiwickError } from '../errors.ts'

/**
 * Why git refuses to work in a folder at all, by what it printed: another user owns it (safe.directory), or its files
 * cannot be read. Undefined for anything else, such as a folder that is no repository. Source: git's setup.c.
 */
export function refusalOf(dir: string, message: string): BailiwickError | undefined {
  if (message.includes('dubious ownership')) {
    const owned = /repository at '([^'\n]+)'/.exec(message)?.[1] ?? dir
    return new BailiwickError('source-unreadable', `${owned} belongs to another user, so git refuses to read it`, {
      fix: `Run: git config --global --add safe.directory ${quoted(owned)}`,
    })
  }
  if (!/permission denied/i.test(message)) return undefined
  const what = message.split('\n', 1)[0]!.replace(/^(?:fatal|error|warning): /, '')
  return new BailiwickError('source-unreadable', `git cannot read ${dir}: ${what}`, {
    fix: 'Run as a user who may read it, or correct its permissions.',
  })
}

const quoted = (path: string) => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`)
