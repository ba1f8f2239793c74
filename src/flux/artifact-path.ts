/** `spec.path` as SecureJoin reads it: what would leave the artifact stays at its root ('' is the root). */
export function artifactPath(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}
