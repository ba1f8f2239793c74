import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { BailiwickError } from '../errors.ts'
import { normaliseUrl } from '../kube/url.ts'

/** Where the content of another source lies. */
export interface GivenRepository {
  readonly url: string
  /** Branch, tag or commit; absent: whatever the source follows. */
  readonly ref?: string
  readonly dir: string
}

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

const LATER = ['sarif', 'junit', 'github']

/** Reads the arguments of `check`; directories become absolute, starting from `cwd`. Throws `usage`. */
export function checkOptions(args: readonly string[], cwd: string): CheckOptions {
  const { values, positionals } = parse(args)
  if (positionals.length > 1) throw usage(`${JSON.stringify(positionals[1])} is one DIR too many`)
  for (const [name, value] of Object.entries(values)) {
    const list: readonly string[] = Array.isArray(value) ? value : [value]
    if (list.includes('')) throw usage(`--${name} is empty`)
    if (list.length > 1 && name !== 'repo') throw usage(`--${name} is given ${list.length} times`)
  }
  const [base, url, branch, fleet] = (['base', 'url', 'branch', 'fleet'] as const).map(name => values[name]?.[0])
  return {
    dir: resolve(cwd, positionals[0] ?? '.'),
    ...(base === undefined ? {} : { base }),
    ...(url === undefined ? {} : { url }),
    ...(branch === undefined ? {} : { branch }),
    ...(fleet === undefined ? {} : { fleet: resolve(cwd, fleet) }),
    repositories: (values.repo ?? []).map(text => givenRepository(text, cwd)),
    output: outputOf(values.output?.[0] ?? 'text'),
  }
}

/** `URL[#REF]=DIR`. An address has no "=", so the first one divides. Throws `usage`. */
function givenRepository(text: string, cwd: string): GivenRepository {
  const equals = text.indexOf('=')
  const [url = '', ...rest] = text.slice(0, Math.max(0, equals)).split('#')
  const ref = rest.join('#')
  const dir = text.slice(equals + 1)
  if (equals < 0 || url === '' || dir === '' || (rest.length > 0 && ref === '')) {
    throw usage(`--repo ${JSON.stringify(text)} is not URL[#REF]=DIR`)
  }
  return { url: normaliseUrl(url), ...(ref === '' ? {} : { ref }), dir: resolve(cwd, dir) }
}

function parse(args: readonly string[]) {
  const option = { type: 'string', multiple: true } as const
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      strict: true,
      options: {
        base: option,
        url: option,
        branch: option,
        fleet: option,
        repo: option,
        output: { ...option, short: 'o' },
      },
    })
  } catch (cause) {
    const message = cause instanceof Error ? (cause.message.split(/[.\n]/, 1)[0] ?? '') : String(cause)
    throw usage(message, cause)
  }
}

function outputOf(value: string): 'text' | 'json' {
  if (value === 'text' || value === 'json') return value
  const known = LATER.includes(value) ? 'is not supported yet' : 'is no format'
  throw usage(`-o ${JSON.stringify(value)} ${known}; allowed are text and json`)
}

function usage(message: string, cause?: unknown): BailiwickError {
  return new BailiwickError('usage', message, { fix: `usage: bailiwick ${CHECK_USAGE}`, cause })
}
