import { resolve } from 'node:path'
import { BailiwickError } from '../errors.ts'
import { formats } from '../report/formats/formats.ts'
import { type GivenRepository, givenRepository } from './given-repository.ts'
import { parseOptions } from './parse-options.ts'

export interface CheckOptions {
  readonly dir: string
  readonly base?: string
  readonly url?: string
  readonly branch?: string
  readonly fleet?: string
  /** File with the age keys that open encrypted files, to check their MAC. */
  readonly sopsAgeKeyFile?: string
  readonly repositories: readonly GivenRepository[]
  /** Where something needs an approval that the command line cannot see, the exit code is 1. */
  readonly failOnRequiredApproval: boolean
  /** One of the names of `formats`. */
  readonly output: string
}

export const CHECK_USAGE =
  'check [DIR] [--base REF] [--url URL] [--branch NAME] [--fleet DIR] [--repo URL[#REF]=DIR]... [--sops-age-key-file FILE] [--fail-on-required-approval] [-o text|json|sarif|junit|github]'

const FAIL_ON_APPROVAL = '--fail-on-required-approval'
const OPTIONS = ['base', 'url', 'branch', 'fleet', 'repo', 'sops-age-key-file', 'output']

/** Reads the arguments of `check`; directories become absolute, starting from `cwd`. Throws `usage`. */
export function checkOptions(args: readonly string[], cwd: string): CheckOptions {
  const rest = args.filter(arg => arg !== FAIL_ON_APPROVAL)
  const { positionals, one, all } = parseOptions(rest, OPTIONS, CHECK_USAGE)
  if (positionals.length > 1) throw usage(`${JSON.stringify(positionals[1])} is one DIR too many`)
  const [base, url, branch, fleet, keys] = ['base', 'url', 'branch', 'fleet', 'sops-age-key-file'].map(one)
  return {
    dir: resolve(cwd, positionals[0] ?? '.'),
    ...(base === undefined ? {} : { base }),
    ...(url === undefined ? {} : { url }),
    ...(branch === undefined ? {} : { branch }),
    ...(fleet === undefined ? {} : { fleet: resolve(cwd, fleet) }),
    ...(keys === undefined ? {} : { sopsAgeKeyFile: resolve(cwd, keys) }),
    repositories: all('repo').map(text => givenRepository(text, cwd)),
    failOnRequiredApproval: rest.length < args.length,
    output: outputOf(one('output') ?? 'text'),
  }
}

function outputOf(value: string): string {
  if (formats.has(value)) return value
  throw usage(`-o ${JSON.stringify(value)} is no format; allowed are ${[...formats.keys()].join(', ')}`)
}

function usage(message: string): BailiwickError {
  return new BailiwickError('usage', message, { fix: `usage: bailiwick ${CHECK_USAGE}` })
}
