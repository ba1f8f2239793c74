import { stringify } from 'yaml'
import type { Exact } from './exact-json.ts'

/** Documents as YAML that every reader, old ones too, reads alike; separated by `---`. */
export function yamlText(documents: readonly Exact[]): string {
  return documents.map(document => stringify(document, { version: '1.1', lineWidth: 0 })).join('---\n')
}
