/**
 * One spelling for the address of a repository, so that https, ssh and scp forms of the same one compare equal:
 * `https://<host>/<path>`; host in lower case, no user, no default port, no `.git`, no trailing slash. For github.com
 * the path is in lower case too (GitHub compares so). Text that is no such address is returned as it is.
 */
export function normaliseUrl(url: string): string {
  const before = known.get(url)
  if (before !== undefined) return before
  const normalised = normalise(url)
  if (known.size >= MAX_KNOWN) known.clear()
  if (url.length <= 300) known.set(url, normalised)
  return normalised
}

/** The same few addresses are asked for again and again. */
const known = new Map<string, string>()
const MAX_KNOWN = 20_000

function normalise(url: string): string {
  const scp = /^(?:[\w.-]+@)([\w.-]+):(?!\/)(.+)$/.exec(url)
  const text = scp ? `ssh://${scp[1]}/${scp[2]}` : url
  let parsed: URL
  try {
    parsed = new URL(text)
  } catch {
    return url
  }
  if (!['https:', 'http:', 'ssh:'].includes(parsed.protocol) || parsed.search || parsed.hash) return url
  const standardPort = { 'https:': '443', 'http:': '80', 'ssh:': '22' }[parsed.protocol]
  const port = parsed.port && parsed.port !== standardPort ? `:${parsed.port}` : ''
  const path = parsed.pathname.replace(/\/+$/, '').replace(/\.git$/, '')
  const host = parsed.hostname.toLowerCase()
  return `https://${host}${port}${host === 'github.com' ? path.toLowerCase() : path}`
}
