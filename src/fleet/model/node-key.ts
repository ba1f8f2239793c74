/** Key of a node. Names that Kubernetes would refuse are made harmless: the key stands in logs and reports. */
export function nodeKey(cluster: string, id: { readonly namespace: string; readonly name: string }): string {
  const plain = (text: string) => text.slice(0, 253).replace(/[^\w.:-]/g, '?')
  return `${cluster}/${plain(id.namespace)}/${plain(id.name)}`
}
