import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { itemsOf } from '../../kube/node.ts'
import { caseless, type FieldDocs, type RefusedField } from './field.ts'

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

/** Throws for an address that is fetched from elsewhere (rule `kustomize-remote-base`). */
export function refuseRemote(text: string, origin: Origin): never {
  const shown = text.replace(/\/\/[^/@\s]*@/, '//***@')
  throw new BailiwickError(
    'kustomize-unsupported',
    `${JSON.stringify(shown)}: kustomize downloads it during the build. Allowed: files and directories of this repository`,
    {
      identity: `${JSON.stringify(shown)} is fetched from outside this repository`,
      origin,
      rule: 'kustomize-remote-base',
      remote: shown,
      fix: 'Copy the files into this repository, or declare a GitRepository for the other one.',
    },
  )
}

/** Throws for charts (rule `kustomize-helm-inflate`). */
export function refuseHelm(name: string, origin: Origin): never {
  throw new BailiwickError(
    'kustomize-unsupported',
    `${name}: renders a Helm chart during the build, which Flux does not allow`,
    {
      identity: `${name} inflates charts during the build; Flux refuses to`,
      origin,
      rule: 'kustomize-helm-inflate',
      fix: 'Declare a HelmRelease.',
    },
  )
}

/** Throws for what is none of kustomize's builtins (rule `kustomize-plugin`). */
export function refusePlugin(name: string, origin: Origin): never {
  throw new BailiwickError(
    'kustomize-unsupported',
    `${name}: runs a plugin during the build, which Flux does not allow`,
    {
      identity: `${name} runs plugins during the build`,
      origin,
      rule: 'kustomize-plugin',
      fix: 'Use patches, labels or configMapGenerator instead.',
    },
  )
}
