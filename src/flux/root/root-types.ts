import { KNOWN_FIELDS } from '../../kustomize/fields/registry.ts'

/** A type of kustomize's own file (api/types, 0.21.1), as far as reading and writing it depends on it. */
export type RootType =
  | { readonly type: 'string' | 'bool' | 'int' | 'any' }
  | { readonly type: 'list' | 'map'; readonly of: RootType }
  | { readonly type: 'struct'; readonly name: string; readonly optional: boolean }

export interface RootField {
  readonly value: RootType
  /** Numbers and booleans become texts, in it and below; not where Go has embedded the struct of the field. */
  readonly coerces: boolean
  /** Written even when it is empty: so is what a pointer to a text points to. */
  readonly always: boolean
}

const ID = 'group:=string version:=string kind:=string name:=string namespace:=string'
const GENERATOR =
  'namespace:=string name:=string behavior:=string literals:=[string files:=[string envs:=[string env:=string ' +
  'options:=*Options'

/** Fields of each struct: `=` for an embedded one, `!` for always written, `[` list, `{` map, `*` pointer. */
const STRUCTS: Readonly<Record<string, string>> = {
  Kustomization: [...KNOWN_FIELDS].map(([name, { goType }]) => `${name}:${goType}`).join(' '),
  Metadata: 'name:string namespace:string labels:{string annotations:{string',
  Label: 'pairs:{string includeSelectors:bool includeTemplates:bool fields:[FieldSpec',
  FieldSpec: 'group:=string version:=string kind:=string path:string create:bool',
  Patch: 'path:string patch:string target:*Selector options:*PatchOptions',
  PatchOptions: 'allowNameChange:bool allowKindChange:bool',
  Selector: `${ID} annotationSelector:string labelSelector:string`,
  Image: 'name:string newName:string tagSuffix:string newTag:string digest:string',
  Replacement: 'source:=*Source targets:=[*Target sourceValue:=*string path:string',
  Source: `${ID} fieldPath:string options:*FieldOptions`,
  Target: 'select:!*Selector reject:[*Selector fieldPaths:[string options:*FieldOptions',
  FieldOptions: 'delimiter:string index:int encoding:string create:bool',
  Replica: 'name:string count:!int',
  SortOptions: 'order:string legacySortOptions:*LegacySort',
  LegacySort: 'orderFirst:![string orderLast:![string',
  ConfigMap: GENERATOR,
  Secret: `${GENERATOR} type:string`,
  Options: 'labels:{string annotations:{string disableNameSuffixHash:bool immutable:bool',
}

const structs = new Map<string, ReadonlyMap<string, RootField>>()

/** The fields of a struct by name. */
export function rootFields(name: string): ReadonlyMap<string, RootField> {
  const known = structs.get(name)
  if (known) return known
  const fields = new Map<string, RootField>()
  for (const text of STRUCTS[name]!.split(' ')) {
    const [, key = '', flags = '', code = ''] = /^(\w+):([=!]*)(.+)$/.exec(text) ?? []
    fields.set(key, {
      value: parse(code),
      coerces: !flags.includes('='),
      always: flags.includes('!') || code === '*string',
    })
  }
  structs.set(name, fields)
  return fields
}

function parse(code: string): RootType {
  const rest = code.slice(1)
  if (code.startsWith('[')) return { type: 'list', of: parse(rest) }
  if (code.startsWith('{')) return { type: 'map', of: parse(rest) }
  const isPointer = code.startsWith('*')
  const name = isPointer ? rest : code
  if (name === 'string' || name === 'bool' || name === 'int' || name === 'any') return { type: name }
  return { type: 'struct', name, optional: isPointer }
}
