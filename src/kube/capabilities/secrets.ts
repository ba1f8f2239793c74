import type { Capabilities, Capability, NamingField } from './capability.ts'
import { withoutFields } from './without-fields.ts'

const SIGNS_IN =
  'names no account, so the controller signs in with its own account and reads everything that this account can read'
const ambient = (at: string, ...unless: readonly string[]): NamingField => ({
  at,
  names: 'ambient',
  unless,
  says: SIGNS_IN,
})
const of = (...fields: readonly NamingField[]): Capability => ({ scope: 'Namespaced', fields })
/** The ways of a SecretStore to sign in (apis/externalsecrets/v1), below `spec.provider`. */
const providers = (at: string): readonly NamingField[] => [
  ambient(`${at}.aws`, 'auth.secretRef', 'auth.jwt'),
  ambient(
    `${at}.gcpsm`,
    'auth.secretRef',
    'auth.workloadIdentity.serviceAccountRef',
    'auth.workloadIdentityFederation',
  ),
  ambient(`${at}.azurekv`, 'authSecretRef', 'serviceAccountRef'),
  ambient(`${at}.vault`, 'auth'),
  ambient(`${at}.vault.auth.kubernetes`, 'serviceAccountRef', 'secretRef'),
  ambient(`${at}.vault.auth.iam`, 'secretRef', 'jwt'),
  ambient(`${at}.vault.auth.gcp`, 'secretRef', 'workloadIdentity.serviceAccountRef', 'serviceAccountRef'),
  ambient(`${at}.vault.auth.jwt`, 'secretRef', 'kubernetesServiceAccountToken'),
  ambient(`${at}.oracle`, 'auth', 'serviceAccountRef'),
  ambient(`${at}.ibm.auth.containerAuth`),
  ambient(`${at}.akeyless.authSecretRef.kubernetesAuth`, 'serviceAccountRef', 'secretRef'),
  ambient(`${at}.alibaba.auth.rrsa`),
  ambient(`${at}.conjur.auth.jwt`, 'secretRef', 'serviceAccountRef'),
  ambient(`${at}.kubernetes`, 'auth', 'authRef'),
  { at: `${at}.kubernetes.remoteNamespace`, names: 'namespace' },
  { at: `${at}.webhook.url`, names: 'service', form: 'url' },
]

const clusterGenerator: NamingField = {
  at: 'spec.**.generatorRef.kind',
  names: 'ambient',
  level: 'warning',
  where: { '': 'ClusterGenerator' },
  says: "takes credentials that a generator of the whole cluster makes with the platform's account",
}

/** External Secrets (config/crds/bases), Vault Secrets Operator (chart/crds) and cert-manager (deploy/crds). */
export const secrets: Capabilities = {
  'external-secrets.io/ExternalSecret': of(clusterGenerator),
  'external-secrets.io/PushSecret': of(clusterGenerator),
  'external-secrets.io/SecretStore': of(...providers('spec.provider')),
  'generators.external-secrets.io/ECRAuthorizationToken': of(ambient('spec', 'auth.secretRef', 'auth.jwt')),
  'generators.external-secrets.io/STSSessionToken': of(ambient('spec', 'auth.secretRef', 'auth.jwt')),
  'generators.external-secrets.io/GCRAccessToken': of(
    ambient('spec', 'auth.secretRef', 'auth.workloadIdentity.serviceAccountRef', 'auth.workloadIdentityFederation'),
  ),
  'generators.external-secrets.io/ACRAccessToken': of(
    ambient('spec', 'auth.servicePrincipal', 'auth.workloadIdentity.serviceAccountRef'),
  ),
  'generators.external-secrets.io/VaultDynamicSecret': of(
    ambient('spec.provider', 'auth'),
    ambient('spec.provider.auth.kubernetes', 'serviceAccountRef', 'secretRef'),
    ambient('spec.provider.auth.iam', 'secretRef', 'jwt'),
  ),
  'generators.external-secrets.io/Webhook': of({ at: 'spec.url', names: 'service', form: 'url' }),
  'secrets.hashicorp.com/VaultAuth': of(
    { at: 'spec.vaultConnectionRef', names: 'object', form: 'path', shared: true },
    { at: 'spec.vaultAuthGlobalRef.namespace', names: 'object', form: 'sibling', shared: true },
  ),
  'secrets.hashicorp.com/VaultStaticSecret': of({
    at: 'spec.vaultAuthRef',
    names: 'object',
    form: 'path',
    shared: true,
  }),
  'secrets.hashicorp.com/VaultDynamicSecret': of({
    at: 'spec.vaultAuthRef',
    names: 'object',
    form: 'path',
    shared: true,
  }),
  'secrets.hashicorp.com/VaultPKISecret': of({
    at: 'spec.vaultAuthRef',
    names: 'object',
    form: 'path',
    shared: true,
  }),
  'secrets.hashicorp.com/HCPVaultSecretsApp': of({
    at: 'spec.hcpAuthRef',
    names: 'object',
    form: 'path',
    shared: true,
  }),
  'secrets.hashicorp.com/VaultConnection': of({
    at: 'spec.address',
    names: 'service',
    form: 'url',
    shared: true,
  }),
  'cert-manager.io/Issuer': of(
    { at: 'spec.vault.server', names: 'service', form: 'url', shared: true },
    { at: 'spec.acme.**.parentRefs.*.namespace', names: 'service', form: 'sibling', shared: true },
  ),
  ...withoutFields(
    [
      'bitnami.com/SealedSecret',
      'generators.external-secrets.io/Fake generators.external-secrets.io/Password generators.external-secrets.io/UUID generators.external-secrets.io/SSHKey generators.external-secrets.io/GithubAccessToken',
      'secrets.hashicorp.com/HCPAuth secrets.hashicorp.com/SecretTransformation secrets.hashicorp.com/VaultAuthGlobal',
      'cert-manager.io/Certificate cert-manager.io/CertificateRequest acme.cert-manager.io/Challenge acme.cert-manager.io/Order',
    ].join(' '),
  ),
}
