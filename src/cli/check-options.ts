import { resolve } from 'node:path'
import { BailiwickError } from '../errors.ts'
import { type GivenRepository, givenRepository } from './given-repository.ts'
import { parseOptions } from './parse-options.ts'

export interface CheckOptions {
  readonly dir: string
  readonly base?: string
  readonly url?: string
  readonly branch?: string
  readonly fleet?: string
  readonly repositories: readonly GivenRepository[]
  readonly output: 'text' | 'json'
}

export const CHECK_USAGE =
  'check [DIR] [--base REF] [--url URL] [--branch NAME] [--fleet DIR] [--repo URL[#REF]=DIR]... [-o text|json]'

const OPTIONS = ['base', 'url', 'branch', 'fleet', 'repo', 'output']
const LATER = ['sarif', 'junit', 'github']

/** Reads the arguments of `check`; directories become absolute, starting from `cwd`. Throws `usage`. */
export function checkOptions(args: readonly string[], cwd: string): CheckOptions {
  const { positionals, one, all } = parseOptions(args, OPTIONS, CHECK_USAGE)
  if (positionals.length > 1) throw usage(`${JSON.stringify(positionals[1])} is one DIR too many`)
  const [base, url, branch, fleet] = ['base', 'url', 'branch', 'fleet'].map(one)
  return {
    dir: resolve(cwd, positionals[0] ?? '.'),
    ...(base === undefined ? {} : { base }),
    ...(url === undefined ? {} : { url }),
    ...(branch === undefined ? {} : { branch }),
    ...(fleet === undefined ? {} : { fleet: resolve(cwd, fleet) }),
    repositories: all('repo').map(text => givenRepository(text, cwd)),
    output: outputOf(one('output') ?? 'text'),
  }
}

function outputOf(value: string): 'text' | 'json' {
  if (value === 'text' || value === 'json') return value
  const known = LATER.includes(value) ? 'is not supported yet' : 'is no format'
  throw usage(`-o ${JSON.stringify(value)} ${known}; allowed are text and json`)
}

function usage(message: string): BailiwickError {
  return new BailiwickError('usage', message, { fix: `usage: bailiwick ${CHECK_USAGE}` })
}
