/** An opaque node id, as GraphQL names things: here the kind and the number, encoded. */
export function nodeId(kind: string, id: number | string): string {
  return `${kind}_${Buffer.from(`${kind}:${id}`).toString('base64url')}`
}
