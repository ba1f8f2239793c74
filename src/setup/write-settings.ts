import { accessSync, constants, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { BailiwickError } from '../errors.ts'

/** Where the settings go. */
interface SettingsFiles {
  readonly env: string
  readonly key: string
  /** Replace what is there. */
  readonly force: boolean
}

/**
 * Makes the folders of the files. Throws `config` where a file is there that must not be replaced, or where none can be written:
 * asked before GitHub is, whose answer comes once.
 */
export function prepareFiles(files: SettingsFiles): void {
  assertFree(files)
  for (const path of [files.env, files.key]) {
    try {
      mkdirSync(dirname(path), { recursive: true })
      accessSync(dirname(path), constants.W_OK)
    } catch (cause) {
      const code = (cause as NodeJS.ErrnoException).code ?? String(cause)
      const fix = 'Name a file in a folder that you can write to.'
      throw new BailiwickError('config', `${path} cannot be written (${code})`, { fix, cause })
    }
  }
}

function assertFree({ env, key, force }: SettingsFiles): void {
  const present = [env, key].filter(path => existsSync(path))
  if (force || present.length === 0) return
  throw new BailiwickError('config', `${present.join(' and ')} already exists`, {
    fix: 'Move it, or use --force to replace the App that it belongs to.',
  })
}

/**
 * Writes the key and the settings, readable by nobody else. Settings of other things that the file holds stay; nothing is
 * half written. Values must be of one line.
 */
export function writeSettings(
  files: SettingsFiles,
  privateKey: string,
  settings: Readonly<Record<string, string>>,
): void {
  assertFree(files)
  const all = { ...settings, PRIVATE_KEY_PATH: resolve(files.key) }
  const kept = existsSync(files.env) ? otherLines(readFileSync(files.env, 'utf8'), Object.keys(all)) : []
  const lines = Object.entries(all).map(([name, value]) => `${name}=${oneLine(name, value)}`)
  replace(files.key, privateKey.endsWith('\n') ? privateKey : `${privateKey}\n`)
  replace(files.env, `${[...kept, ...lines].join('\n')}\n`)
}

function otherLines(text: string, names: readonly string[]): string[] {
  const ours = new RegExp(`^\\s*(?:export\\s+)?(?:${[...names, 'PRIVATE_KEY'].join('|')})\\s*=`)
  return text
    .replace(/\n+$/, '')
    .split('\n')
    .filter(line => !ours.test(line))
}

function oneLine(name: string, value: string): string {
  // a line break, a quote or a # would make the file say something else
  if (/^[\x21\x24-\x26\x28-\x5b\x5d-\x5f\x61-\x7e ]*$/.test(value)) return value.includes(' ') ? `"${value}"` : value
  throw new BailiwickError('config', `the value of ${name} cannot be written into a file of settings`)
}

/** The name appears with the whole content, for its owner only. */
function replace(path: string, content: string): void {
  const part = `${path}.part`
  rmSync(part, { force: true })
  writeFileSync(part, content, { mode: 0o600, flag: 'wx' })
  renameSync(part, path)
}
