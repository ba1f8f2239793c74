import { CelError } from '../cel-error.ts'
import type { FunctionTable } from '../function-library.ts'
import { CelMap, type CelValue, LibraryValue } from '../values.ts'
import { type GoUrl, parseUrl } from './parse-url.ts'

class Url extends LibraryValue {
  readonly typeName = 'kubernetes.URL'
  readonly text: string
  readonly parts: GoUrl
  constructor(text: string, parts: GoUrl) {
    super()
    this.text = text
    this.parts = parts
  }
  equals(other: LibraryValue): boolean {
    return other instanceof Url && JSON.stringify(other.parts) === JSON.stringify(this.parts)
  }
}

/** Addresses of the web (k8s.io/apiserver pkg/cel/library/urls.go). */
export const URLS: FunctionTable = {
  functions: {
    url: ([text]) => {
      if (typeof text !== 'string') return undefined
      const parts = parseUrl(text)
      if (!parts) throw new CelError('URL parse error')
      return new Url(text, parts)
    },
    isURL: ([text]) => (typeof text === 'string' ? parseUrl(text) !== undefined : undefined),
  },
  methods: {
    getScheme: ofUrl(({ scheme }) => scheme),
    getHost: ofUrl(({ host }) => host),
    getHostname: ofUrl(({ host }) => hostname(host)),
    getPort: ofUrl(({ host }) => /:(\d*)$/.exec(host.replace(/^\[.*\]/, ''))?.[1] ?? ''),
    getEscapedPath: ofUrl(({ path }) => path),
    getQuery: ofUrl(({ query }) => queryOf(query)),
  },
}

function ofUrl(answer: (parts: GoUrl) => CelValue) {
  return ([one]: readonly CelValue[]) => (one instanceof Url ? answer(one.parts) : undefined)
}

function hostname(host: string): string {
  const bracketed = /^\[(.*)\]/.exec(host)
  return bracketed ? bracketed[1]! : host.replace(/:\d*$/, '')
}

/** Values by key, decoded; what cannot be decoded is left out, as Go does. */
function queryOf(query: string): CelValue {
  const all = new Map<string, [CelValue, CelValue[]]>()
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue
    const at = pair.indexOf('=')
    const [key, value] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
    const decoded = [key, value].map(decode)
    if (decoded.includes(undefined)) continue
    const [name, text] = decoded as [string, string]
    const known = all.get(`s${name}`)
    if (known) known[1].push(text)
    else all.set(`s${name}`, [name, [text]])
  }
  return new CelMap(all)
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
