import { at, type MapNode, type Path, stringAt } from '../../kube/node.ts'
import type { Problem } from '../model/problem.ts'
import {
  badValue,
  isHidden,
  itemsIn,
  mapIn,
  mapsIn,
  missingField,
  type TypeCheck,
  textIn,
  valueIn,
  wrongWord,
} from './read-field.ts'
import { checkStructural } from './structural.ts'
import { FORMS } from './texts.ts'

type Add = (problem: Problem) => void

const APPROVED = 'api-approved.kubernetes.io'
const SCOPES = ['Cluster', 'Namespaced']
const COLUMNS = ['boolean', 'date', 'integer', 'number', 'string']
const STRATEGIES = ['None', 'Webhook']

type SchemaCheck = typeof checkStructural

/** ValidateCustomResourceDefinition (k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/validation). */
export const checkDefinition: TypeCheck = (node, path, add) => checkParts(node, path, add, checkStructural)

/** The same, but for the insides of its schemas. */
export const checkDefinitionWithoutSchemas: TypeCheck = (node, path, add) => checkParts(node, path, add, () => {})

function checkParts(node: MapNode, path: Path, add: Add, checkSchemas: SchemaCheck): void {
  const spec = mapIn(node, 'spec')
  if (spec === undefined) return
  const here = [...path, 'spec']
  checkGroup(node, spec, path, add)
  const scope = textIn(spec, 'scope')
  if (scope !== undefined && scope !== '' && !SCOPES.includes(scope)) add(wrongWord([...here, 'scope'], SCOPES))
  checkNames(mapIn(spec, 'names'), [...here, 'names'], add)
  checkVersions(spec, here, add, checkSchemas)
  const conversion = mapIn(spec, 'conversion')
  const strategy = textIn(conversion, 'strategy')
  if (strategy && !STRATEGIES.includes(strategy)) add(wrongWord([...here, 'conversion', 'strategy'], STRATEGIES))
  if (conversion && strategy === 'Webhook' && !mapIn(conversion, 'webhook') && !isHidden(conversion, 'webhook'))
    add(missingField([...here, 'conversion', 'webhook'], 'a webhook, because strategy is Webhook'))
}

function checkGroup(node: MapNode, spec: MapNode, path: Path, add: Add): void {
  const [name, group, plural] = [
    stringAt(node, ['metadata', 'name']),
    textIn(spec, 'group'),
    stringAt(spec, ['names', 'plural']),
  ]
  if (name && group && plural && name !== `${plural}.${group}`)
    add(badValue([...path, 'metadata', 'name'], 'spec.names.plural, a dot and spec.group', 'another name'))
  if (!group) return
  if (!FORMS.subdomain.fits(group) || !group.includes('.'))
    add(badValue([...path, 'spec', 'group'], 'a domain with at least one dot', 'text of another form'))
  if (!/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)) return
  const annotations = at(node, ['metadata', 'annotations'])
  if (annotations !== undefined && annotations.type !== 'map') return
  const approved = textIn(annotations, APPROVED) ?? ''
  if (annotations && isHidden(annotations, APPROVED)) return
  if (approved === '')
    add(
      missingField(
        [...path, 'metadata', 'annotations', APPROVED],
        `this annotation, because ${group} is a group of Kubernetes`,
      ),
    )
}

const isLabel = (text: string): boolean => FORMS['service-name'].fits(text)

function checkNames(names: MapNode | undefined, path: Path, add: Add): void {
  const form = FORMS['service-name'].allowed
  for (const name of ['plural', 'singular']) {
    const text = textIn(names, name)
    if (text && !isLabel(text)) add(badValue([...path, name], form, 'text of another form'))
  }
  for (const name of ['kind', 'listKind']) {
    const text = textIn(names, name)
    if (text && !isLabel(text.toLowerCase()))
      add(badValue([...path, name], 'a DNS label in any case that begins with a letter', 'text of another form'))
  }
  const kind = textIn(names, 'kind')
  if (kind && kind === textIn(names, 'listKind'))
    add(badValue([...path, 'listKind'], 'another name than kind', 'the name of kind'))
  for (const list of ['shortNames', 'categories'])
    for (const [index, item] of itemsIn(names, list).entries())
      if (item.type === 'scalar' && typeof item.value === 'string' && !item.opaque && !isLabel(item.value))
        add(badValue([...path, list, index], form, 'text of another form'))
}

function checkVersions(spec: MapNode, path: Path, add: Add, checkSchemas: SchemaCheck): void {
  if (isHidden(spec, 'versions') || valueIn(spec, 'versions') === undefined) return
  const versions = mapsIn(spec, 'versions')
  const seen = new Set<string>()
  let stored = 0
  let isKnown = true
  for (const [index, version] of versions) {
    const [name, here] = [textIn(version, 'name'), [...path, 'versions', index]]
    if (name && !isLabel(name)) add(badValue([...here, 'name'], FORMS['service-name'].allowed, 'text of another form'))
    if (name && seen.has(name))
      add({ kind: 'duplicate', path: [...here, 'name'], allowed: 'each version once', found: 'a duplicate' })
    if (name) seen.add(name)
    if (isHidden(version, 'storage')) isKnown = false
    const storage = valueIn(version, 'storage')
    if (storage?.type === 'scalar' && storage.value === true) stored += 1
    for (const [order, column] of mapsIn(version, 'additionalPrinterColumns')) {
      const type = textIn(column, 'type')
      if (type && !COLUMNS.includes(type)) add(wrongWord([...here, 'additionalPrinterColumns', order, 'type'], COLUMNS))
    }
    const schema = at(version, ['schema', 'openAPIV3Schema'])
    if (schema?.type === 'map') checkSchemas(schema, [...here, 'schema', 'openAPIV3Schema'], add)
    else if (schema === undefined && !isHidden(version, 'schema'))
      add(missingField([...here, 'schema', 'openAPIV3Schema'], 'a schema'))
  }
  if (isKnown && stored !== 1)
    add(badValue([...path, 'versions'], 'exactly one version with storage: true', `a list with ${stored}`))
}
