import type { ObjectId } from '../kube/object.ts'

const HIDDEN = '***'

/** Forms of credentials that are worth hiding wherever they turn up; each is linear in the text. */
const CREDENTIALS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{1,40}-----[^-]*(?:-----END [A-Z ]{1,40}-----)?/g,
  /AGE-SECRET-KEY-[A-Z0-9-]+/gi,
  /\b(?:gh[pousr]_|github_pat_)\w+/g,
  /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g,
  /(?<=:\/\/)[^\s/@]+(?=@)/g,
  /(?<=\b(?:password|passwd|token|secret|api[-_]?key|authorization|bearer)["']?\s?[:=]\s?)["']?[^\s"',}]+/gi,
]

/** Base64 of 24 and more characters that is not a hexadecimal digest. */
const ENCODED = /[A-Za-z0-9+/_-]{24,}={0,2}/g

/**
 * A message of the API server without anything that looks like a secret value: of a Secret every quoted text but its own
 * name is hidden, elsewhere what has the form of a credential. Errors of the server quote the values that they refuse.
 */
export function redact(message: string, object?: ObjectId): string {
  let out = message.slice(0, 4000)
  for (const pattern of CREDENTIALS) out = out.replace(pattern, HIDDEN)
  if (object?.kind !== 'Secret') return out
  const own = new Set([object.name, object.namespace, object.apiVersion, object.kind, 'v1', 'secrets', ''])
  return out
    .replace(/(["'`])((?:\\.|(?!\1)[^\\])*)\1/g, (whole, quote: string, text: string) =>
      own.has(text) || text.startsWith('system:serviceaccount:') ? whole : `${quote}${HIDDEN}${quote}`,
    )
    .replace(ENCODED, text => (own.has(text) || /^[0-9a-f]+$/.test(text) ? text : HIDDEN))
}
