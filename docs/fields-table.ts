import type { FieldDocs } from '../src/kustomize/fields/field.ts'
import { KNOWN_FIELDS } from '../src/kustomize/fields/registry.ts'

const BEGIN = '<!-- fields: written by docs/generate-fields.ts -->\n'
const END = '<!-- end of fields -->\n'
const OTHER_LETTERS: FieldDocs = {
  built: '`apiversion` alone, with the value that holds without it',
  refused: 'any other: `kustomize-case-variant-key`',
}

/** `text` with its table of the fields of a kustomization.yaml as the registry has them. */
export function withFieldsTable(text: string): string {
  const [before, rest] = [text.split(BEGIN)[0]!, text.split(END)[1]]
  if (rest === undefined) throw new Error(`no place for the table: ${END}`)
  return `${before}${BEGIN}\n${fieldsTable()}\n${END}${rest}`
}

function fieldsTable(): string {
  const names = new Map<FieldDocs, string[]>()
  for (const [name, { docs }] of KNOWN_FIELDS) names.set(docs, [...(names.get(docs) ?? []), `\`${name}\``])
  const rows = [...names].map(([docs, fields]) => row(fields.join(', '), docs))
  const head = '| field | built | refused |\n|---|---|---|\n'
  return [head, ...rows, row('a known field in other letters (`Namespace`)', OTHER_LETTERS)].join('')
}

function row(field: string, { built, refused }: FieldDocs): string {
  return `| ${field} | ${built ?? ''} | ${refused ?? ''} |\n`.replaceAll('|  |', '| |')
}
