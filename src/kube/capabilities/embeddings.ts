import { HELM_RELEASE, RESOURCE_SET } from '../flux-kinds.ts'
/** Where objects of a kind hold other objects, or name what a controller makes, and which user applies that. */
export interface EmbeddedPlace {
  /** Steps from the root with dots between, as in NamingField. */
  readonly at: string
  /**
   * `object`: with apiVersion and kind; `text`: YAML of such; `anywhere`: any object below; `generate`: a rule of Kyverno;
   * `content`: what is deployed stands elsewhere; else the kind, as `<group>/<version>/<Kind>`, that the controller makes of a
   * part with `metadata` and other fields.
   */
  readonly form: 'object' | 'text' | 'anywhere' | 'generate' | 'content' | { readonly kind: string }
  /** Who applies it: the controller with its own rights, or an account of the namespace that `at` names. */
  readonly by: 'controller' | { readonly at: string; readonly otherwise: 'controller' | 'default' }
  /** `own`: the controller puts everything into the namespace of the holder; default: where the object says, else there. */
  readonly namespace?: 'own'
  /** Of a part: where the holder names what is made, or the part itself; default is `metadata.name` of the part, then of the holder. */
  readonly nameAt?: string
  readonly nameIn?: string
  /** Where the rest of a part is written, if not at `at`. */
  readonly partAt?: string
  /** The same of its namespace. */
  readonly namespaceAt?: string
  /** Fields of the part that count, where others are data only. */
  readonly only?: readonly string[]
  /** What begins a placeholder in a text. */
  readonly placeholder?: string
  /** Its own rule reports cluster-scoped objects. */
  readonly ownScopeRule?: true
  /** Rules that report the same fields of the holder. */
  readonly except?: readonly string[]
  /** Of `content`: what it is, for a message. */
  readonly says?: string
}

const controller = 'controller' as const
const account = (at: string, otherwise: 'controller' | 'default' = 'controller') => ({ at, otherwise })
const object = (at: string, more: Partial<EmbeddedPlace> = {}): EmbeddedPlace => ({
  at,
  form: 'object',
  by: controller,
  ...more,
})
const content = (at: string, says: string, by: EmbeddedPlace['by'] = controller): EmbeddedPlace => ({
  at,
  form: 'content',
  by,
  says,
})
/** A Secret that a controller writes: named at `nameAt`, with metadata and type at `partAt`. */
const secret = (nameAt: string, partAt = nameAt, more: Partial<EmbeddedPlace> = {}): EmbeddedPlace => ({
  at: 'spec',
  form: { kind: '/v1/Secret' },
  by: controller,
  nameAt,
  partAt,
  only: ['metadata', 'type', 'labels', 'annotations'],
  placeholder: '{{',
  ...more,
})
const OWN = 'metadata.name'
const secrets = (kinds: string, place: EmbeddedPlace): Record<string, readonly EmbeddedPlace[]> =>
  Object.fromEntries(kinds.split(' ').map(kind => [kind, [place]]))
const workflow = (spec: string): readonly EmbeddedPlace[] => {
  const by = account(`${spec}.serviceAccountName`, 'default')
  // templates stand in lists, in steps and tasks of others, and in what they all begin with
  return [
    { at: `${spec}.**.resource.manifest`, form: 'text', by, placeholder: '{{' },
    content(`${spec}.**.resource.manifestFrom`, 'a manifest out of an artifact', by),
    content(`${spec}.**.podSpecPatch`, 'a patch of the pods that it makes', by),
  ]
}
/** Where a trigger of Argo Events reads the object that it makes. */
const triggered = (trigger: string): readonly EmbeddedPlace[] => {
  const by = account('spec.template.serviceAccountName', 'default')
  const source = `spec.triggers.*.template.${trigger}.source`
  return [
    object(`${source}.resource`, { by, placeholder: '{{' }),
    { at: `${source}.inline`, form: 'text', by, placeholder: '{{' },
    ...['s3', 'file', 'url', 'configmap', 'git'].map(from =>
      content(`${source}.${from}`, 'an object out of a file', by),
    ),
  ]
}
const resourceSet = (spec: string): readonly EmbeddedPlace[] => {
  const by = account('spec.serviceAccountName')
  return [
    object(`${spec}.resources.*`, { by, placeholder: '<<' }),
    { at: `${spec}.resourcesTemplate`, form: 'text', by, placeholder: '<<' },
  ]
}

/** Kinds by `<group>/<Kind>`; `*` is every kind. From the API of each project. */
export const EMBEDDINGS: Readonly<Record<string, readonly EmbeddedPlace[]>> = {
  // objects of a Secret's name that Crossplane's managed resources and claims write
  '*': [
    secret('spec.writeConnectionSecretToRef.name', 'spec.writeConnectionSecretToRef', {
      at: 'spec.writeConnectionSecretToRef',
      namespaceAt: 'spec.writeConnectionSecretToRef.namespace',
    }),
  ],
  'capsule.clastix.io/TenantResource': [
    object('spec.resources.*.rawItems.*', { namespace: 'own', placeholder: '{{', ownScopeRule: true }),
  ],
  [RESOURCE_SET]: [...resourceSet('spec'), ...resourceSet('spec.steps.*')],
  [HELM_RELEASE]: [{ at: 'spec.values', form: 'anywhere', by: account('spec.serviceAccountName'), placeholder: '{{' }],
  'kyverno.io/Policy': [
    {
      at: 'spec.rules.*.generate',
      form: 'generate',
      by: controller,
      placeholder: '{{',
      except: ['namespace-confinement'],
    },
    { at: 'spec.rules.*.generate.foreach.*', form: 'generate', by: controller, placeholder: '{{' },
  ],
  'policies.kyverno.io/NamespacedGeneratingPolicy': [content('spec.generate', 'objects that expressions make')],
  'kubernetes.crossplane.io/Object': [object('spec.forProvider.manifest')],
  'kubernetes.m.crossplane.io/Object': [object('spec.forProvider.manifest')],
  'helm.crossplane.io/Release': [content('spec.forProvider.chart', 'a chart')],
  'helm.m.crossplane.io/Release': [content('spec.forProvider.chart', 'a chart')],
  'argoproj.io/Workflow': workflow('spec'),
  'argoproj.io/WorkflowTemplate': workflow('spec'),
  'argoproj.io/CronWorkflow': workflow('spec.workflowSpec'),
  'argoproj.io/Sensor': [...triggered('k8s'), ...triggered('argoWorkflow')],
  'argoproj.io/AnalysisTemplate': [
    {
      at: 'spec.metrics.*.provider.job',
      form: { kind: 'batch/v1/Job' },
      by: controller,
      namespace: 'own',
      placeholder: '{{',
    },
  ],
  'argoproj.io/AnalysisRun': [
    {
      at: 'spec.metrics.*.provider.job',
      form: { kind: 'batch/v1/Job' },
      by: controller,
      namespace: 'own',
      placeholder: '{{',
    },
  ],
  'argoproj.io/Application': [
    content('spec.source', 'the content of another source'),
    content('spec.sources', 'the content of other sources'),
    content('spec.sourceHydrator', 'the content of another source'),
  ],
  'argoproj.io/ApplicationSet': [
    content('spec.template', 'the content of other sources'),
    content('spec.templatePatch', 'a patch of Applications'),
  ],
  'triggers.tekton.dev/TriggerTemplate': [
    object('spec.resourcetemplates.*', { by: account('spec.serviceAccountName', 'default'), placeholder: '$(' }),
  ],
  'work.open-cluster-management.io/ManifestWork': [object('spec.workload.manifests.*')],
  'work.open-cluster-management.io/ManifestWorkReplicaSet': [object('spec.manifestWorkTemplate.workload.manifests.*')],
  'policy.open-cluster-management.io/Policy': [
    object('spec.policy-templates.*.objectDefinition', { placeholder: '{{' }),
  ],
  'policy.open-cluster-management.io/ConfigurationPolicy': [
    object('spec.object-templates.*.objectDefinition', { placeholder: '{{' }),
    content('spec.object-templates-raw', 'objects that a template makes'),
  ],
  'work.karmada.io/Work': [object('spec.workload.manifests.*')],
  'addons.cluster.x-k8s.io/ClusterResourceSet': [
    content('spec.resources', 'what ConfigMaps and Secrets hold, on other clusters'),
  ],
  'addons.cluster.x-k8s.io/HelmChartProxy': [content('spec.chartName', 'a chart, on other clusters')],
  'config.projectsveltos.io/Profile': [
    content('spec.policyRefs', 'what ConfigMaps and Secrets hold'),
    content('spec.helmCharts', 'charts'),
    content('spec.kustomizationRefs', 'the content of other sources'),
  ],
  'helm.cattle.io/HelmChart': [content('spec', 'a chart')],
  'fleet.cattle.io/GitRepo': [content('spec.repo', 'the content of a repository', account('spec.serviceAccount'))],
  'fleet.cattle.io/Bundle': [
    { at: 'spec.resources.*.content', form: 'text', by: account('spec.serviceAccount'), placeholder: '{{' },
  ],
  'kappctrl.k14s.io/App': [content('spec.fetch', 'the content of other sources', account('spec.serviceAccountName'))],
  'packaging.carvel.dev/PackageInstall': [content('spec.packageRef', 'a package', account('spec.serviceAccountName'))],
  'templates.kluctl.io/ObjectTemplate': [
    object('spec.templates.*.object', { by: account('spec.serviceAccountName'), placeholder: '{{' }),
    { at: 'spec.templates.*.raw', form: 'text', by: account('spec.serviceAccountName'), placeholder: '{{' },
  ],
  'redhatcop.redhat.io/ResourceLocker': [
    object('spec.resources.*.object', { by: account('spec.serviceAccountRef.name') }),
  ],
  'operators.coreos.com/ClusterServiceVersion': [
    {
      at: 'spec.install.spec.clusterPermissions.*',
      form: { kind: 'rbac.authorization.k8s.io/v1/ClusterRole' },
      by: controller,
    },
    {
      at: 'spec.install.spec.permissions.*',
      form: { kind: 'rbac.authorization.k8s.io/v1/Role' },
      by: controller,
      namespace: 'own',
    },
    {
      at: 'spec.install.spec.deployments.*',
      form: { kind: 'apps/v1/Deployment' },
      by: controller,
      namespace: 'own',
      nameIn: 'name',
    },
  ],
  'kubevirt.io/VirtualMachine': [
    {
      at: 'spec.dataVolumeTemplates.*',
      form: { kind: 'cdi.kubevirt.io/v1beta1/DataVolume' },
      by: controller,
      namespace: 'own',
    },
  ],
  // what writes a Secret
  'external-secrets.io/ExternalSecret': [
    secret('spec.target.name', 'spec.target.template'),
    content('spec.target.manifest', 'an object of another kind'),
  ],
  'bitnami.com/SealedSecret': [secret(OWN, 'spec.template')],
  'cert-manager.io/Certificate': [secret('spec.secretName', 'spec.secretTemplate')],
  'kubernetes-client.io/ExternalSecret': [secret(OWN, 'spec.template')],
  'redhatcop.redhat.io/VaultSecret': [secret('spec.output.name', 'spec.output')],
  'secrets.infisical.com/InfisicalSecret': [
    secret('spec.managedSecretReference.secretName', 'spec.managedSecretReference', {
      namespaceAt: 'spec.managedSecretReference.secretNamespace',
    }),
  ],
  'secrets.doppler.com/DopplerSecret': [
    secret('spec.managedSecret.name', 'spec.managedSecret', { namespaceAt: 'spec.managedSecret.namespace' }),
  ],
  'k8s.bitwarden.com/BitwardenSecret': [secret('spec.secretName')],
  'isindir.github.com/SopsSecret': [
    secret('', 'spec', { at: 'spec.secretTemplates.*', partAt: '', nameIn: 'name', namespace: 'own' }),
  ],
  'secrets-store.csi.x-k8s.io/SecretProviderClass': [
    secret('', 'spec', { at: 'spec.secretObjects.*', partAt: '', nameIn: 'secretName', namespace: 'own' }),
  ],
  ...secrets(
    [
      'secrets.hashicorp.com/VaultStaticSecret secrets.hashicorp.com/VaultDynamicSecret',
      'secrets.hashicorp.com/VaultPKISecret secrets.hashicorp.com/HCPVaultSecretsApp',
    ].join(' '),
    secret('spec.destination.name', 'spec.destination'),
  ),
  ...secrets(
    [
      'ricoberger.de/VaultSecret onepassword.com/OnePasswordItem kafka.strimzi.io/KafkaUser',
      'secretgenerator.mittwald.de/StringSecret secretgenerator.mittwald.de/BasicAuth secretgenerator.mittwald.de/SSHKeyPair',
      'secretgen.k14s.io/Password secretgen.k14s.io/Certificate secretgen.k14s.io/RSAKey secretgen.k14s.io/SSHKey',
      'secretgen.carvel.dev/SecretTemplate secretgen.carvel.dev/SecretImport',
    ].join(' '),
    secret(OWN),
  ),
}
