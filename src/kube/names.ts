const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const PART = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/

/** A namespace's name as the API server accepts it (RFC 1123 label). */
export function isNamespaceName(text: string): boolean {
  return text.length <= 63 && LABEL.test(text)
}

/** A service account's name as the API server accepts it (RFC 1123 subdomain). */
export function isSubdomain(text: string): boolean {
  return text.length > 0 && text.length <= 253 && text.split('.').every(part => PART.test(part))
}
