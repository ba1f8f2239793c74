/**
 * The one table of the kinds of Flux, of the Flux Operator, and of controllers of others that deploy from Flux's sources:
 * what is known of a kind stands in its row, and callers ask for kinds by a property. `test/flux/kinds.test.ts` holds the
 * rows to the projects' own CustomResourceDefinitions. It imports nothing, so that src/kube may ask it, too.
 */

/** A field, from the root of the object; '*' is each item of a list. */
type Field = readonly string[]

/** A field that names another object. */
export interface ReferenceField {
  readonly path: Field
  /** The kind that is meant where the reference names none. */
  readonly kind?: string
  /** Flux itself refuses another namespace under --no-cross-namespace-refs. */
  readonly refusedByFlux?: true
  /** The API has no namespace there. */
  readonly isUnknownField?: true
  /** What is deployed, or made into another source, comes from what is named. */
  readonly takes?: true
}

/** How a controller applies what an object asks for: as the account that `spec.serviceAccountName` names. */
interface Applier {
  readonly controller: string
  /** The account where the object names none: the one that a flag of the controller names, or this one; else the controller's own. */
  readonly fallback?: 'defaultServiceAccount' | 'helmDefaultServiceAccount' | { readonly account: string }
}

interface Row {
  readonly group: string
  readonly kind: string
  /** As kubectl takes them. */
  readonly shortNames?: readonly string[]
  /** Those that the project serves, the one to write first. */
  readonly versions: readonly string[]
  /** Of Flux itself, the one to write first: the first minor version of Flux 2 that serves each, and the last where there is one. */
  readonly served?: Readonly<Record<string, readonly [first: number, last?: number]>>
  /** Fields of `spec` that every version of Flux 2 requires where the map around them is written; `|` between two of which one is enough. */
  readonly requires?: string
  /** A source, by what its content is: commits, content that is not in git, or a list of charts. */
  readonly source?: 'git' | 'opaque' | 'index'
  /** A Kustomization may take its content. */
  readonly deployable?: true
  /** Its objects make or copy sources. */
  readonly makesSources?: true
  /** Where it says what it follows, and how that is written. */
  readonly address?: { readonly path: Field; readonly form: 'url' | 'endpoint' | 'image' }
  /** It may say which namespaces use it (`spec.accessFrom`, or the annotation in its place). */
  readonly shared?: true
  readonly references?: readonly ReferenceField[]
  readonly applies?: Applier
  /** Fields that name a Secret (or `kind`) that is read for it, as src/kube/capabilities/named-values.ts reads them. */
  readonly secrets?: string
  /** What a Secret holds is sent to the address in this field. */
  readonly sends?: { readonly secrets: string; readonly address: string }
  /** It says how Flux itself runs. */
  readonly configuresFlux?: true
  /** Where it says from which folder the Flux Operator starts a cluster. */
  readonly starts?: Field
  /** It does not say how often it is looked at. */
  readonly hasNoInterval?: true
  /** What signatures of its content are checked for. */
  readonly verify?: Field
  /** Maps whose keys people choose. */
  readonly free?: Field
  /** Fields that put what is applied into another namespace. */
  readonly targets?: readonly Field[]
  /** Fields by which what cannot be changed is deleted and made again. */
  readonly forces?: readonly Field[]
  /** Group of the labels by which its controller knows what it applied. */
  readonly ownerLabels?: string
}

/** `plural`: as rules and addresses name its objects. */
type FluxKind = Row & { readonly plural: string }

export const KUSTOMIZE_GROUP = 'kustomize.toolkit.fluxcd.io'
export const HELM_GROUP = 'helm.toolkit.fluxcd.io'
export const SOURCE_GROUP = 'source.toolkit.fluxcd.io'
export const EXTENSIONS_GROUP = 'source.extensions.fluxcd.io'
const IMAGE_GROUP = 'image.toolkit.fluxcd.io'
const NOTIFICATION_GROUP = 'notification.toolkit.fluxcd.io'
export const OPERATOR_GROUP = 'fluxcd.controlplane.io'

export const KUSTOMIZATION = `${KUSTOMIZE_GROUP}/Kustomization`
export const HELM_RELEASE = `${HELM_GROUP}/HelmRelease`
export const GIT_REPOSITORY = `${SOURCE_GROUP}/GitRepository`
export const OCI_REPOSITORY = `${SOURCE_GROUP}/OCIRepository`
export const BUCKET = `${SOURCE_GROUP}/Bucket`
export const HELM_CHART = `${SOURCE_GROUP}/HelmChart`
export const EXTERNAL_ARTIFACT = `${SOURCE_GROUP}/ExternalArtifact`
export const ARTIFACT_GENERATOR = `${EXTENSIONS_GROUP}/ArtifactGenerator`
export const IMAGE_UPDATE_AUTOMATION = `${IMAGE_GROUP}/ImageUpdateAutomation`
export const PROVIDER = `${NOTIFICATION_GROUP}/Provider`
export const RECEIVER = `${NOTIFICATION_GROUP}/Receiver`
export const FLUX_INSTANCE = `${OPERATOR_GROUP}/FluxInstance`
export const RESOURCE_SET = `${OPERATOR_GROUP}/ResourceSet`
export const INPUT_PROVIDER = `${OPERATOR_GROUP}/ResourceSetInputProvider`

/** Where Flux's bootstrap puts its own objects. */
export const ROOT_NAMESPACE = 'flux-system'
export const ROOT_NAME = 'flux-system'
/** The label by which the platform gives a namespace to a tenant (flux create tenant). */
export const TENANT_LABEL_KEY = 'toolkit.fluxcd.io/tenant'
/** Where every kind that a controller applies names the account that it acts as. */
export const ACCOUNT_FIELD: Field = ['spec', 'serviceAccountName']
/** Where every one of them names the cluster that it acts on. */
export const KUBECONFIG_FIELD: Field = ['spec', 'kubeConfig']

const AUTH = 'spec.secretRef spec.certSecretRef spec.proxySecretRef spec.verify.secretRef'
const KUBECONFIG = 'spec.kubeConfig.secretRef spec.kubeConfig.configMapRef:ConfigMap'
const SOURCE_REF: Field = ['spec', 'sourceRef']
const URL = { path: ['spec', 'url'], form: 'url' } as const

const ROWS: readonly Row[] = [
  {
    group: KUSTOMIZE_GROUP,
    kind: 'Kustomization',
    shortNames: ['ks'],
    versions: ['v1'],
    served: { v1: [0], v1beta2: [0, 7], v1beta1: [0, 6] },
    requires: 'interval prune sourceRef',
    references: [
      { path: SOURCE_REF, refusedByFlux: true, takes: true },
      { path: ['spec', 'dependsOn', '*'], kind: 'Kustomization' },
      { path: ['spec', 'healthChecks', '*'] },
    ],
    applies: { controller: 'kustomize-controller', fallback: 'defaultServiceAccount' },
    secrets: `${KUBECONFIG} spec.decryption.secretRef spec.postBuild.substituteFrom.*`,
    free: ['spec', 'postBuild', 'substitute'],
    targets: [['spec', 'targetNamespace']],
    forces: [['spec', 'force']],
    ownerLabels: KUSTOMIZE_GROUP,
  },
  {
    group: HELM_GROUP,
    kind: 'HelmRelease',
    shortNames: ['hr'],
    versions: ['v2'],
    served: { v2: [3], v2beta2: [2, 7], v2beta1: [0, 6] },
    requires: 'interval chart|chartRef chart.spec.chart chart.spec.sourceRef chart.spec.sourceRef.name',
    references: [
      { path: ['spec', 'chart', 'spec', 'sourceRef'], refusedByFlux: true, takes: true },
      { path: ['spec', 'chartRef'], refusedByFlux: true, takes: true },
      { path: ['spec', 'dependsOn', '*'], kind: 'HelmRelease' },
    ],
    applies: { controller: 'helm-controller', fallback: 'helmDefaultServiceAccount' },
    secrets: `${KUBECONFIG} spec.valuesFrom.* spec.chart.spec.verify.secretRef`,
    starts: ['spec', 'values', 'instance', 'sync'],
    verify: ['spec', 'chart', 'spec', 'verify'],
    free: ['spec', 'values'],
    targets: [
      ['spec', 'targetNamespace'],
      ['spec', 'storageNamespace'],
    ],
    forces: [
      ['spec', 'upgrade', 'force'],
      ['spec', 'rollback', 'force'],
    ],
    ownerLabels: HELM_GROUP,
  },
  {
    group: SOURCE_GROUP,
    kind: 'GitRepository',
    shortNames: ['gitrepo'],
    versions: ['v1'],
    served: { v1: [0], v1beta2: [0, 7], v1beta1: [0, 6] },
    requires: 'interval url',
    source: 'git',
    deployable: true,
    address: URL,
    shared: true,
    secrets: AUTH,
    verify: ['spec', 'verify'],
  },
  {
    group: SOURCE_GROUP,
    kind: 'OCIRepository',
    shortNames: ['ocirepo'],
    versions: ['v1'],
    served: { v1: [6], v1beta2: [0, 7] },
    requires: 'interval url',
    source: 'opaque',
    deployable: true,
    address: URL,
    shared: true,
    secrets: `${AUTH} spec.verify.trustedRootSecretRef`,
    verify: ['spec', 'verify'],
  },
  {
    group: SOURCE_GROUP,
    kind: 'HelmRepository',
    shortNames: ['helmrepo'],
    versions: ['v1'],
    served: { v1: [3], v1beta2: [0, 7], v1beta1: [0, 6] },
    requires: 'url',
    source: 'index',
    address: URL,
    shared: true,
    secrets: AUTH,
  },
  {
    group: SOURCE_GROUP,
    kind: 'Bucket',
    versions: ['v1'],
    served: { v1: [4], v1beta2: [0, 7], v1beta1: [0, 6] },
    requires: 'bucketName endpoint interval',
    source: 'opaque',
    deployable: true,
    address: { path: ['spec', 'endpoint'], form: 'endpoint' },
    shared: true,
    secrets: `${AUTH} spec.sts.secretRef spec.sts.certSecretRef`,
  },
  {
    group: SOURCE_GROUP,
    kind: 'HelmChart',
    shortNames: ['hc'],
    versions: ['v1'],
    served: { v1: [3], v1beta2: [0, 7], v1beta1: [0, 6] },
    requires: 'chart interval sourceRef',
    makesSources: true,
    shared: true,
    references: [{ path: SOURCE_REF, isUnknownField: true, takes: true }],
    secrets: AUTH,
    verify: ['spec', 'verify'],
  },
  {
    group: SOURCE_GROUP,
    kind: 'ExternalArtifact',
    shortNames: ['ea'],
    versions: ['v1'],
    hasNoInterval: true,
    served: { v1: [7] },
    source: 'opaque',
    deployable: true,
    shared: true,
    references: [{ path: SOURCE_REF }],
  },
  {
    group: EXTENSIONS_GROUP,
    kind: 'ArtifactGenerator',
    shortNames: ['ag'],
    versions: ['v1beta1'],
    served: { v1beta1: [7] },
    makesSources: true,
    references: [{ path: ['spec', 'sources', '*'], takes: true }],
  },
  {
    group: IMAGE_GROUP,
    kind: 'ImageRepository',
    shortNames: ['imgrepo', 'imagerepo'],
    versions: ['v1'],
    served: { v1: [7], v1beta2: [0, 8], v1beta1: [0, 6] },
    address: { path: ['spec', 'image'], form: 'image' },
    shared: true,
    secrets: AUTH,
  },
  {
    group: IMAGE_GROUP,
    kind: 'ImagePolicy',
    shortNames: ['imgpol', 'imagepol'],
    versions: ['v1'],
    served: { v1: [7], v1beta2: [0, 8], v1beta1: [0, 6] },
    requires: 'imageRepositoryRef policy',
    references: [{ path: ['spec', 'imageRepositoryRef'], kind: 'ImageRepository', refusedByFlux: true }],
  },
  {
    group: IMAGE_GROUP,
    kind: 'ImageUpdateAutomation',
    shortNames: ['iua', 'imgupd', 'imgauto'],
    versions: ['v1'],
    served: { v1: [7], v1beta2: [3, 8], v1beta1: [0, 6] },
    requires: 'interval sourceRef',
    references: [{ path: SOURCE_REF, refusedByFlux: true }],
    secrets: 'spec.git.commit.signingKey.secretRef',
  },
  {
    group: NOTIFICATION_GROUP,
    kind: 'Provider',
    versions: ['v1beta3'],
    served: { v1beta3: [2], v1beta2: [0, 8], v1beta1: [0, 6] },
    requires: 'type',
    secrets: AUTH,
    sends: { secrets: 'spec.secretRef', address: 'spec.address' },
  },
  {
    group: NOTIFICATION_GROUP,
    kind: 'Alert',
    versions: ['v1beta3'],
    served: { v1beta3: [2], v1beta2: [0, 8], v1beta1: [0, 6] },
    requires: 'eventSources providerRef',
    references: [
      { path: ['spec', 'eventSources', '*'], refusedByFlux: true },
      { path: ['spec', 'providerRef'], kind: 'Provider', isUnknownField: true },
    ],
  },
  {
    group: NOTIFICATION_GROUP,
    kind: 'Receiver',
    versions: ['v1'],
    served: { v1: [0], v1beta2: [0, 8], v1beta1: [0, 6] },
    requires: 'resources type',
    references: [{ path: ['spec', 'resources', '*'], refusedByFlux: true }],
    secrets: AUTH,
  },
  {
    group: OPERATOR_GROUP,
    kind: 'FluxInstance',
    versions: ['v1'],
    hasNoInterval: true,
    secrets: 'spec.sync.pullSecret spec.distribution.pullSecret spec.distribution.artifactPullSecret',
    configuresFlux: true,
    starts: ['spec', 'sync'],
  },
  {
    group: OPERATOR_GROUP,
    kind: 'FluxReport',
    versions: ['v1'],
    hasNoInterval: true,
    configuresFlux: true,
  },
  {
    group: OPERATOR_GROUP,
    kind: 'ResourceSet',
    shortNames: ['rset'],
    versions: ['v1'],
    references: [
      { path: ['spec', 'dependsOn', '*'] },
      { path: ['spec', 'inputsFrom', '*'], kind: 'ResourceSetInputProvider', isUnknownField: true },
    ],
    applies: { controller: 'flux-operator' },
    ownerLabels: 'resourceset.fluxcd.controlplane.io',
  },
  {
    group: OPERATOR_GROUP,
    kind: 'ResourceSetInputProvider',
    shortNames: ['rsip'],
    versions: ['v1'],
    address: URL,
    references: [{ path: ['spec', 'selectors', '*'], kind: 'ExternalArtifact' }],
    secrets: AUTH,
    sends: { secrets: 'spec.secretRef', address: 'spec.url' },
  },
  {
    group: 'infra.contrib.fluxcd.io',
    kind: 'Terraform',
    shortNames: ['tf'],
    versions: ['v1alpha2', 'v1alpha1'],
    references: [
      { path: SOURCE_REF, refusedByFlux: true, takes: true },
      { path: ['spec', 'dependsOn', '*'], kind: 'Terraform' },
      { path: ['spec', 'cliConfigSecretRef'], kind: 'Secret' },
    ],
    // the runner is never the controller (tofu-controller, api/v1alpha2)
    applies: { controller: 'tofu-controller', fallback: { account: 'tf-runner' } },
    secrets:
      'spec.varsFrom.* spec.cliConfigSecretRef spec.backendConfigsFrom.* spec.fileMappings.*.secretRef spec.readInputsFromSecrets.* spec.vars.*.valueFrom.secretKeyRef spec.vars.*.valueFrom.configMapKeyRef:ConfigMap',
  },
  {
    group: 'gitops.kluctl.io',
    kind: 'KluctlDeployment',
    versions: ['v1beta1'],
    applies: { controller: 'kluctl-controller' },
    secrets:
      'spec.kubeConfig.secretRef spec.decryption.secretRef spec.source.secretRef spec.helmCredentials.*.secretRef spec.credentials.git.*.secretRef spec.credentials.helm.*.secretRef spec.credentials.oci.*.secretRef',
  },
  {
    group: 'cue.contrib.flux.io',
    kind: 'CueInstance',
    versions: ['v1alpha1'],
    references: [
      { path: SOURCE_REF, takes: true },
      { path: ['spec', 'dependsOn', '*'], kind: 'CueInstance' },
      { path: ['spec', 'healthChecks', '*'] },
    ],
    applies: { controller: 'cue-controller' },
    secrets: 'spec.kubeConfig.secretRef',
  },
]

export const FLUX_KINDS: readonly FluxKind[] = ROWS.map(row => ({
  ...row,
  plural: `${row.kind.toLowerCase()}s`.replace(/ys$/, 'ies'),
}))

const nameOf = ({ group, kind }: FluxKind) => `${group}/${kind}`
const BY_NAME: ReadonlyMap<string, FluxKind> = new Map(FLUX_KINDS.map(row => [nameOf(row), row]))

/** The row of a kind (`<group>/<Kind>`); undefined: it is none of Flux. */
export function fluxKind(kind: string): FluxKind | undefined {
  return BY_NAME.get(kind)
}

/** Names (`<group>/<Kind>`) of the kinds with a property. */
export function kindsThat(has: (row: FluxKind) => unknown): readonly string[] {
  return FLUX_KINDS.filter(has).map(nameOf)
}

/** The kinds with a property, with what it is. */
export function valuesOf<T>(property: (row: FluxKind) => T | undefined): ReadonlyMap<string, T> {
  return new Map(
    FLUX_KINDS.flatMap(row => {
      const value = property(row)
      return value === undefined ? [] : [[nameOf(row), value] as const]
    }),
  )
}

/** The groups of the kinds with a property. */
export function groupsThat(has: (row: FluxKind) => unknown): ReadonlySet<string> {
  return new Set(FLUX_KINDS.filter(has).map(({ group }) => group))
}

/** The newest minor version of Flux 2 that `served` is known of. */
export const NEWEST_FLUX = 9

/** The versions of a kind that a minor version of Flux 2 serves, the one to write first. */
export function fluxVersions({ served = {} }: FluxKind, minor = NEWEST_FLUX): string[] {
  return Object.entries(served).flatMap(([name, [first, last = minor]]) =>
    first <= minor && minor <= last ? name : [],
  )
}

/** The minor version of Flux 2 that a version, or a range of one minor version, names; undefined where it names another or several. */
export function fluxMinor(version = ''): number | undefined {
  const minor = /^[~=\s]*v?2\.(\d{1,3})(?:\.[\dx*]+)?(?:[-+]\S*)?$/.exec(version.trim())?.[1]
  return minor === undefined ? undefined : Number(minor)
}

/** The apiVersion to write for a kind of the table. */
export function apiVersionOf(kind: string): string {
  const row = BY_NAME.get(kind)!
  return `${row.group}/${row.versions[0]}`
}

/** The name (`<group>/<Kind>`) of the kind that a sourceRef means by its kind alone: sources are all of one group. */
export function sourceNamed(kind = ''): string {
  return `${SOURCE_GROUP}/${kind}`
}

/** Whether a Kustomization may take the content of a kind of source, by the kind alone, as a sourceRef names it. */
export function isDeployable(kind: string): boolean {
  return BY_NAME.get(sourceNamed(kind))?.deployable === true
}

/** Whether a kind is of the toolkit itself: its objects hold no pods. */
export function isToolkitKind(kind: string): boolean {
  return /^\w+\.toolkit\.fluxcd\.io\//.test(kind)
}
