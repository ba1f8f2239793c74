import { oncePer } from '../base/once-per.ts'
import type { SourceLine } from '../base/origin.ts'
import type { FleetNode, IncludedSource, SealedFile } from '../fleet/model/fleet.ts'
import { objectTexts } from '../fleet/model/same-node.ts'
import { sourceRevision } from '../fleet/model/source-ref.ts'
import { readApplySettings } from '../flux/apply-settings.ts'
import { type FieldLines, fieldLines } from '../kube/field-lines.ts'
import { at, canonical, isAbsent, type Node, stringAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import { serviceKeys } from '../kube/sops.ts'
import {
  type Decryption,
  type EvaluatedNode,
  type Finding,
  type NodeFailure,
  SEALED_FIELDS,
  SEALED_FILES,
  SEALED_PATCHES,
  UNKNOWN_VALUES,
} from '../rules/model/finding.ts'
import { recipientsOf } from '../rules/secrets/sops-files.ts'
import { isSealed, isSopsFile, isSopsValue } from '../rules/secrets/sops-values.ts'
import { type LeftOut, leftOutOf, releasesIn } from './evaluated.ts'

const known = new WeakMap<readonly FleetNode[], readonly EvaluatedNode[]>()

/** Every node with what was found in it, by its key. `like`: nodes of which most are the very same at their places. */
export function evaluatedNodes(
  nodes: readonly FleetNode[],
  found: ReadonlyMap<string, readonly Finding[]>,
  failed: ReadonlyMap<string, readonly NodeFailure[]>,
  like?: readonly FleetNode[],
): readonly EvaluatedNode[] {
  const clean = cleanNodes(nodes, like)
  if (found.size === 0 && failed.size === 0) return clean
  return clean.map((one, place) => {
    const [findings, failures] = [found.get(one.key), failed.get(one.key)]
    return findings || failures ? evaluatedNode(nodes[place]!, findings ?? [], failures ?? []) : one
  })
}

function cleanNodes(nodes: readonly FleetNode[], like: readonly FleetNode[] | undefined): readonly EvaluatedNode[] {
  const before = known.get(nodes)
  if (before) return before
  const others = like && cleanNodes(like, undefined)
  const clean: EvaluatedNode[] = []
  for (let place = 0; place < nodes.length; place++) {
    const node = nodes[place]!
    clean.push(others && node === like?.[place] ? others[place]! : evaluatedNode(node, [], []))
  }
  known.set(nodes, clean)
  return clean
}

/** A node with its findings, as plain data for the worker that applies it. */
export function evaluatedNode(
  node: FleetNode,
  findings: readonly Finding[],
  failures: readonly NodeFailure[],
): EvaluatedNode {
  const evaluated = cleanNode(node)
  return findings.length === 0 && failures.length === 0 ? evaluated : { ...evaluated, findings, failures }
}

/** Kinds of which mostly nothing but values is encrypted. */
const HOLDERS = ['v1 Secret', 'v1 ConfigMap']
const VALUES = ['data', 'stringData', 'binaryData']

/** Whether nothing but encrypted patches was left out of the build, and each of them can be opened. */
const isOnlyPatches = (parts: readonly LeftOut[], files: readonly SealedFile[]) =>
  parts.length > 0 && parts.every(({ error }) => files.some(({ path }) => path === error.sealed))

const blockOf = ({ root, sops }: KubeObject): Node | undefined => sops ?? at(root, ['sops'])

const NO_SECRET = 'SOPS encryption without spec.decryption.secretRef'

/** Keys that only a service opens. */
const SERVICES: ReadonlyMap<string, string> = new Map([
  ['kms', 'AWS KMS'],
  ['gcp_kms', 'GCP KMS'],
  ['azure_kv', 'Azure Key Vault'],
  ['hc_vault', 'HashiCorp Vault'],
  ['hckms', 'Huawei Cloud KMS'],
])

const OPENED_FIRST: ReadonlySet<string> = new Set([SEALED_FILES, SEALED_FIELDS, SEALED_PATCHES])

/** Flux takes an included artifact only once its own signature is accepted, too. */
const includedPart = ({ id, verify, ...part }: IncludedSource) => ({
  ...partOf({ id, ...part }),
  ...(verify === undefined ? {} : { id, verify }),
})

const partOf = ({ url, commit, lent }: IncludedSource) => ({ url, commit, ...(lent ? { lent } : {}) })

const placesOf = oncePer((objects: FleetNode['objects']): readonly SourceLine[] => objects.map(placeOf))

const linesIn = oncePer(fieldLines)
const linesOf = oncePer((objects: FleetNode['objects']): readonly FieldLines[] =>
  objects.map(({ root }) => linesIn(root)),
)

/** Fields of a Flux Kustomization that the worker honours, or that change nothing about what it applies. */
const HONOURED = new Set([
  'interval',
  'retryInterval',
  'timeout',
  'sourceRef',
  'path',
  'prune',
  'suspend',
  'serviceAccountName',
  'kubeConfig',
  'dependsOn',
  'wait',
  'force',
  'deletionPolicy',
  'ignore',
  'healthChecks',
  'healthCheckExprs',
  'targetNamespace',
  'patches',
  'images',
  'components',
  'ignoreMissingComponents',
  'namePrefix',
  'nameSuffix',
  'buildMetadata',
  'commonMetadata',
  'patchesStrategicMerge',
  'patchesJson6902',
  'postBuild',
  'decryption',
  'validation',
])

const cleanNode = oncePer((node: FleetNode): EvaluatedNode => {
  const { id, url, ref, commit, tag, originRevision, opaque, artifact, lent, includes, verify } = node.source
  const { decryption, refused } = readDecryption(node)
  const { settings, problems } = readApplySettings(node.kustomization, node.namespace)
  return {
    key: node.key,
    cluster: node.cluster,
    ...(node.hub === undefined ? {} : { hub: node.hub }),
    namespace: node.namespace,
    name: node.name,
    parent: node.parent ?? null,
    user: node.identity.user,
    impersonated: node.identity.impersonated,
    tenant: node.tenant ?? null,
    source: {
      id,
      url,
      commit,
      opaque: opaque ?? null,
      ...(commit === '' || artifact ? {} : { revision: sourceRevision(ref, commit, tag) }),
      ...(originRevision === undefined ? {} : { originRevision }),
      ...(artifact?.assumed === undefined ? {} : { assumed: true }),
      ...(lent ? { lent } : {}),
      ...(verify === undefined ? {} : { verify }),
      ...(includes ? { includes: includes.map(includedPart) } : {}),
    },
    ...(node.charts ? { charts: node.charts.map(partOf) } : {}),
    dependsOn: node.dependsOn,
    suspend: node.suspend,
    prune: node.prune,
    settings,
    ...(problems.length > 0 ? { problems } : {}),
    ...(decryption ? { decryption } : {}),
    ...(node.needs ? { needs: node.needs } : {}),
    digest: node.digest,
    findings: [],
    failures: [],
    objects: objectTexts(node.objects),
    ...(releasesIn(node.objects) === 0 ? {} : { releases: releasesIn(node.objects) }),
    places: placesOf(node.objects),
    lines: linesOf(node.objects),
    declared: placeOf(node.kustomization),
    path: node.path,
    ...(node.holes?.length ? { holes: node.holes.map(({ error }) => error.message) } : {}),
    hides: node.hides ?? [],
    refused: [
      ...(node.inVersions ? ['two versions of one Kustomization'] : []),
      ...refusedFields(node.kustomization, node.objects),
      ...refused,
    ].sort(),
  }
})

function placeOf({ root }: KubeObject): SourceLine {
  const { repository, file, line } = root.origin
  return { repository, file, line }
}

/**
 * What the worker does not honour yet, fields of the Kustomization and values that are only known to
 * the cluster: it refuses to apply rather than to ignore them.
 */
function refusedFields(kustomization: KubeObject, objects: readonly KubeObject[]): string[] {
  const spec = at(kustomization.root, ['spec'])
  if (spec?.type !== 'map') return []
  const set = [...spec.fields].filter(([key, field]) => !HONOURED.has(key) && !isUnset(field.value))
  // only substitution and decryption make values unknown
  const mayHide = spec.fields.has('postBuild') || spec.fields.has('decryption')
  const hidden = mayHide && objects.some(object => isOpaque(object.root))
  // its artifact has a revision of its own, which only the cluster knows
  const isGenerated = stringAt(spec, ['sourceRef', 'kind']) === 'ExternalArtifact'
  const generated = isGenerated ? ['spec.sourceRef.kind'] : []
  return [...generated, ...set.map(([key]) => `spec.${key}`), ...(hidden ? [UNKNOWN_VALUES] : [])].sort()
}

function isOpaque(node: Node): boolean {
  if (node.type === 'scalar') return node.opaque !== undefined
  if (node.type === 'list') return node.items.some(isOpaque)
  for (const field of node.fields.values()) if (isOpaque(field.value)) return true
  return false
}

/** Set, but to the value without a meaning. */
function isUnset(node: Node): boolean {
  if (node.type === 'scalar') return node.value === null || node.value === false || node.value === ''
  return node.type === 'list' ? node.items.length === 0 : node.fields.size === 0
}

/** How the encrypted objects of a node are opened, and what keeps the worker from it. */
interface ReadDecryption {
  readonly decryption?: Decryption
  /** What the worker does not open: with any, it applies nothing of the node. */
  readonly refused: readonly string[]
}

/**
 * Reads `spec.decryption` and what is encrypted: objects, patches, and the files that Secrets are generated from. The worker
 * decrypts them first, and evaluates them once more. What is known of an object whose values alone are encrypted is enough
 * for what depends on it.
 */
function readDecryption(
  node: Pick<FleetNode, 'kustomization' | 'objects' | 'sealedFiles' | 'holes' | 'error' | 'inputs'>,
): ReadDecryption {
  const { kustomization, objects, sealedFiles: files = [] } = node
  const spec = at(kustomization.root, ['spec', 'decryption'])
  const sealed = objects.filter(object => (isAbsent(spec) ? isSealed(object) : object.sealed !== undefined))
  const refused = new Set<string>()
  if (sealed.some(object => !isValuesOnly(object))) refused.add(SEALED_FIELDS)
  if (holdsSealedFile(objects)) refused.add(SEALED_FILES)
  if (isOnlyPatches(leftOutOf(node), files)) refused.add(SEALED_PATCHES)
  if (sealed.length === 0 && files.length === 0) return { refused: [...refused] }
  const secret = stringAt(spec, ['secretRef', 'name'])
  const services: NonNullable<Decryption['services']>[number][] = []
  for (const object of sealed) {
    const { keys, refused: why } = openersOf(object, secret !== undefined)
    if (why !== undefined) refused.add(why)
    if (keys !== undefined) services.push(keys)
  }
  // Flux decrypts nothing without it
  if (secret === undefined && (files.length > 0 || isAbsent(spec))) refused.add(NO_SECRET)
  if (stringAt(spec, ['serviceAccountName']) !== undefined) refused.add('spec.decryption.serviceAccountName')
  if ((stringAt(spec, ['provider']) ?? 'sops') !== 'sops') refused.add('spec.decryption.provider')
  if ([...refused].some(one => !OPENED_FIRST.has(one))) return { refused: [...refused] }
  const seals = sealed.flatMap(({ sealed: built }) => (built ? canonical(built) : []))
  const decryption: Decryption = {
    ...(secret === undefined ? {} : { secret }),
    ...(services.length > 0 ? { services } : {}),
    seals,
    ...(files.length > 0 ? { files } : {}),
  }
  return { decryption, refused: [...refused] }
}

interface Openers {
  /** Of which the operator must list one; absent: a key of the Secret may open it. */
  readonly keys?: NonNullable<Decryption['services']>[number]
  readonly refused?: string
}

function openersOf(object: KubeObject, hasSecret: boolean): Openers {
  const block = blockOf(object)
  const kinds = [...recipientsOf(block).keys()].map(recipient => recipient.slice(0, recipient.indexOf(':')))
  const isByKey = kinds.length === 0 || kinds.some(kind => kind === 'age' || kind === 'pgp')
  if (isByKey && hasSecret) return {}
  const keys = serviceKeys(block).map(({ service, key }) => ({ service, key }))
  if (keys.length > 0) return { keys }
  if (isByKey) return { refused: NO_SECRET }
  const services = [...new Set(kinds.map(kind => SERVICES.get(kind) ?? kind))].sort().join(', ')
  return { refused: `SOPS encryption without an age or PGP recipient (${services})` }
}

function isValuesOnly(object: KubeObject): boolean {
  const { apiVersion, kind } = idOf(object)
  if (!HOLDERS.includes(`${apiVersion} ${kind}`)) return false
  return [...object.root.fields].every(
    ([key, { value }]) => key === 'sops' || VALUES.includes(key) || !holdsSealed(value),
  )
}

function holdsSealed(node: Node): boolean {
  if (node.type === 'scalar') return typeof node.value === 'string' && isSopsValue(node.value)
  if (node.type === 'list') return node.items.some(holdsSealed)
  for (const [key, { value }] of node.fields) if (isSopsValue(key) || holdsSealed(value)) return true
  return false
}

const holdsSealedFile = oncePer((objects: FleetNode['objects']) => objects.some(isOfSealedFile))

/** kustomize-controller opens files of generators before the build, so that names with a hash of the content differ. */
function isOfSealedFile(object: KubeObject): boolean {
  if (idOf(object).kind !== 'Secret') return false
  const data = at(object.root, ['data'])
  if (data?.type !== 'map') return false
  for (const { value } of data.fields.values()) {
    if (value.type !== 'scalar' || typeof value.value !== 'string') continue
    if (isSopsFile(Buffer.from(value.value, 'base64'))) return true
  }
  return false
}
