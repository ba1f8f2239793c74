import { stringify } from 'yaml'
import type { Json } from '../kube/node.ts'

/** Documents as YAML that every reader, old ones too, reads alike; separated by `---`. */
export function yamlText(documents: readonly Json[]): string {
  return documents.map(document => stringify(document, { version: '1.1', lineWidth: 0 })).join('---\n')
}
