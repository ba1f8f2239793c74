import { apiVersion, buildMetadata, components, kind, metadata, resources, sortOptions } from './build-settings.ts'
import { configurations } from './configurations.ts'
import type { KnownField, KustomizationField, RefusedField, TransformingField } from './field.ts'
import { configMapGenerator, generatorOptions, generators, secretGenerator, transformers } from './generators.ts'
import { images } from './images.ts'
import { commonAnnotations, commonLabels, labels } from './labels.ts'
import { namePrefix, nameSuffix, namespace } from './names.ts'
import { patches, patchesJson6902, patchesStrategicMerge } from './patches.ts'
import { crds, helmChartInflationGenerator, helmCharts, helmGlobals, openapi, validators, vars } from './refused.ts'
import { replacements } from './replacements.ts'
import { replicas } from './replicas.ts'

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

/** The fields of one kustomization.yaml. */
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
