/** What nearly every path is made of; without other characters only certain names make an address. */
const PLAIN = /^[\w./-]*$/

/**
 * Whether kustomize would fetch this value from a network or another repository rather than read it as a path. Wider
 * than kustomize (repospec.go, fileloader.go): what looks like an address at all is one, a gate may not guess.
 */
export function isRemote(value: string): boolean {
  if (PLAIN.test(value) && !value.includes('_git') && !value.toLowerCase().includes('github')) return false
  const text = value.trim().replace(/^(?:git::)+/i, match => (match ? '' : match))
  if (text !== value.trim()) return true
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return true
  if (/^(?:gh|gl|gs|s3|hg|git|ssh|file|https?|oci):/i.test(text)) return true
  if (/^(?:www\.)?github\.com(?:[:/]|$)/i.test(text)) return true
  if (/^[\w.+-]+@[\w.-]+[:/]/.test(text) || /^[a-z][a-z0-9-]*@[^/]*[:/]/i.test(text)) return true
  if (/^[\w-]+(?:\.[\w-]+)+:[^\\]/.test(text)) return true
  return text.includes('/_git/') || /[?&](?:ref|version|timeout|submodules)=/.test(text)
}
