import { itemsOf } from '../../kube/node.ts'
import type { FieldDocs, RefusedField } from './field.ts'
import { caseless } from './paths-in.ts'
import { refusePlugin } from './refusals.ts'

const ALWAYS: FieldDocs = { refused: 'always' }
const HELM: FieldDocs = { refused: 'always: `kustomize-helm-inflate`' }

export const vars: RefusedField = { goType: 'any', leftOut: { reach: 'build' }, docs: ALWAYS }

export const crds: RefusedField = { goType: '[string', paths: itemsOf, leftOut: { objects: 'only' }, docs: ALWAYS }

export const openapi: RefusedField = {
  goType: '{string',
  paths: value => [caseless(value, 'path')],
  leftOut: { reach: 'build' },
  docs: ALWAYS,
}

export const validators: RefusedField = {
  goType: '[string',
  paths: itemsOf,
  holdsBuiltins: true,
  leftOut: { reach: 'kustomization' },
  docs: { refused: 'always; with entries they are `kustomize-plugin`' },
  forbid: value => {
    const [first] = itemsOf(value)
    if (first) refusePlugin('validators', first.origin)
  },
}

// what begins with helm in any letters is refused by its name (`checkForbidden`)
export const helmCharts: RefusedField = { goType: 'any', leftOut: { objects: 'only' }, docs: HELM }

export const helmGlobals: RefusedField = { goType: 'any', docs: HELM }

export const helmChartInflationGenerator: RefusedField = { goType: 'any', leftOut: { objects: 'only' }, docs: HELM }
