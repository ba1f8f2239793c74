import { commonAnnotations } from './annotations.ts'
import { buildMetadata } from './build-metadata.ts'
import { components } from './components.ts'
import { configMapGenerator, generatorOptions, secretGenerator } from './config-map-generator.ts'
import { configurations } from './configurations.ts'
import type { KnownField, KustomizationField, RefusedField, TransformingField } from './field.ts'
import { generators, transformers } from './generators.ts'
import { images } from './images.ts'
import { commonLabels, labels } from './labels.ts'
import { metadata } from './metadata.ts'
import { namePrefix, nameSuffix } from './name-affixes.ts'
import { namespace } from './namespace.ts'
import { patches } from './patches.ts'
import { patchesJson6902 } from './patches-json6902.ts'
import { patchesStrategicMerge } from './patches-strategic-merge.ts'
import { crds, helmChartInflationGenerator, helmCharts, helmGlobals, openapi, validators, vars } from './refused.ts'
import { replacements } from './replacements.ts'
import { replicas } from './replicas.ts'
import { resources } from './resources.ts'
import { sortOptions } from './sort-options.ts'
import { apiVersion, kind } from './type-meta.ts'

/** The fields that are read, by name, in the order in which they are read. */
export const FIELDS = {
  apiVersion,
  kind,
  metadata,
  resources,
  components,
  configurations,
  namespace,
  namePrefix,
  nameSuffix,
  patches,
  patchesJson6902,
  patchesStrategicMerge,
  labels,
  commonLabels,
  commonAnnotations,
  replicas,
  images,
  replacements,
  sortOptions,
  configMapGenerator,
  secretGenerator,
  generatorOptions,
  generators,
  transformers,
  buildMetadata,
}

type Fields = typeof FIELDS

/** What the fields of one kustomization.yaml say. */
export type FieldValues = {
  readonly [Name in keyof Fields]: Fields[Name] extends KustomizationField<infer T> ? T : never
}

/** The fields that transformers serve, in kustomize's order (kusttarget_configplugin.go, 5.8.1). */
const ORDER = {
  patchesStrategicMerge,
  patches,
  namespace,
  namePrefix,
  nameSuffix,
  labels,
  commonLabels,
  commonAnnotations,
  patchesJson6902,
  replicas,
  images,
  replacements,
} satisfies { [Name in keyof Fields as Fields[Name] extends TransformingField<infer _> ? Name : never]: unknown }

/** A field that a transformer serves, by its name. */
export type Transformer = readonly [name: keyof typeof ORDER, field: TransformingField<unknown>]

export const TRANSFORMERS = Object.entries(ORDER) as readonly Transformer[]

/** The other fields that kustomize knows. */
const REFUSED: Readonly<Record<string, RefusedField>> = {
  vars,
  crds,
  openapi,
  validators,
  helmCharts,
  helmGlobals,
  helmChartInflationGenerator,
}

const namesOf = (fields: Readonly<Record<string, KnownField>>): readonly string[] =>
  Object.entries(fields).flatMap(([name, { olderNames = [] }]) => [name, ...olderNames])

/** Names of all fields that are read. */
export const READ_NAMES = namesOf(FIELDS)

/** Every name that kustomize 5.8.1 knows. */
export const KNOWN_NAMES = [...READ_NAMES, ...namesOf(REFUSED)]

/** Names that a later kustomize gave other names. */
export const OLDER_NAMES = Object.values<KnownField>(FIELDS).flatMap(({ olderNames = [] }) => olderNames)

/** Every field by each of its names. */
export const KNOWN_FIELDS: ReadonlyMap<string, RefusedField> = new Map(
  Object.entries<RefusedField>({ ...FIELDS, ...REFUSED }).flatMap(([name, field]) =>
    [name, ...(field.olderNames ?? [])].map(one => [one, field] as const),
  ),
)
