import { hash } from 'node:crypto'

/** Git object id (SHA-1, 40 hex digits) of content as a blob, tree, commit or tag. */
export function objectId(type: 'blob' | 'tree' | 'commit' | 'tag', content: Uint8Array): string {
  const header = Buffer.from(`${type} ${content.length}\0`)
  return hash('sha1', Buffer.concat([header, content]))
}
