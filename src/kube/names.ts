const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const PART = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/

/** Namespaces that Kubernetes makes itself, for its own objects. */
export const KUBERNETES_NAMESPACES = ['kube-node-lease', 'kube-public', 'kube-system']

/** A namespace's name as the API server accepts it (RFC 1123 label). */
export function isNamespaceName(text: string): boolean {
  return text.length <= 63 && LABEL.test(text)
}

/** A service account's name as the API server accepts it (RFC 1123 subdomain). */
export function isSubdomain(text: string): boolean {
  return text.length > 0 && text.length <= 253 && text.split('.').every(part => PART.test(part))
}

const LABEL_PART = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/

/** A label's key as the API server accepts it: a name, before it maybe a subdomain and a slash. */
export function isLabelKey(text: string): boolean {
  const slash = text.indexOf('/')
  const name = text.slice(slash + 1)
  return (slash < 0 || isSubdomain(text.slice(0, slash))) && name.length <= 63 && LABEL_PART.test(name)
}

/** A label's value as the API server accepts it; it may be empty. */
export function isLabelValue(text: string): boolean {
  return text === '' || (text.length <= 63 && LABEL_PART.test(text))
}
