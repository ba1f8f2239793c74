import { capsuleDenied } from './capsule/capsule-denied.ts'
import { capsuleProxySetting, capsuleTenantResource } from './capsule/capsule-privileges.ts'
import { capsuleGroupMissing } from './capsule/capsule-users.ts'
import { capsuleAccountRights, capsuleOwnerChange } from './capsule/tenant-owners.ts'
import { capsulePolicyWeakened } from './capsule/weakened-policy.ts'
import { baselineGrowth, configUnused, waiverUnused } from './fleet-config.ts'
import { fluxControlPlaneObject, fluxLockdownWeakened } from './flux-control-plane.ts'
import { gitAttributesTamper, gitPathAmbiguous, sourceIgnoreTamper, sourceSubmodules } from './git/repository-files.ts'
import { accountCannotApply } from './identity/account-cannot-apply.ts'
import { identityObjectTamper, saTokenSecret } from './identity/identity-objects.ts'
import { kubeconfigContent, kubeconfigRef } from './identity/kubeconfigs.ts'
import { defaultSaPrivileged, saForeign, saRequired } from './identity/service-accounts.ts'
import { controllerRights, unconfinedSource } from './identity/unconfined-rights.ts'
import { workloadIdentityAnnotation, workloadUsesReconcilerSa } from './identity/workload-identity.ts'
import { kustomizePathEscape, kustomizeSymlink } from './kustomize/escaping-paths.ts'
import { unicodeConfusable, yamlAmbiguous, yamlEncoding } from './kustomize/readable-yaml.ts'
import {
  gitLfsPointer,
  kustomizeCaseVariantKey,
  kustomizeHelmInflate,
  kustomizeMultipleFiles,
  kustomizePlugin,
  kustomizeRemoteBase,
  patchUnmatched,
  renderLimits,
} from './kustomize/renderer-rules.ts'
import { renderParity, secretExfilSubstitution, substitutionInjection } from './kustomize/substitution.ts'
import { unrenderedVariable } from './kustomize/unknown-values.ts'
import type { Rule } from './model/rule.ts'
import { clusterScopedForbidden, namespaceConfinement, targetNamespace } from './namespaces/confinement.ts'
import { embeddedContent, embeddedItems, helmPostRenderer } from './namespaces/embedded-objects.ts'
import { namespaceProtectedMetadata, quotaTamper } from './namespaces/namespace-guards.ts'
import { namespaceOwnership } from './namespaces/namespace-ownership.ts'
import { invalidObject, kindNotEvaluated, unknownScope } from './namespaces/object-identity.ts'
import { tenantRemoved } from './namespaces/tenant-removed.ts'
import { forceApply, pruneProtected } from './ownership/apply-marks.ts'
import { massDeletion } from './ownership/deletions.ts'
import { ownerFinalizerTamper, ownerLabelForged, ownershipConflict } from './ownership/object-owners.ts'
import { pruneAccountRemoved } from './ownership/prune-accounts.ts'
import { policyNotEvaluated } from './policies/policy-coverage.ts'
import { policyDenied } from './policies/policy-denied.ts'
import { imageUnverified, policyLoosened } from './policies/policy-loosened.ts'
import { rbacClusterBinding, rbacForeignSubject, rbacPublicSubject } from './rbac/bindings.ts'
import { rbacEscalation } from './rbac/escalation.ts'
import { rbacAggregation, rbacDanglingRole, rbacFluxStatusWrite } from './rbac/roles.ts'
import { crossNamespaceNetworkRef, crossNamespaceRef } from './references/cross-namespace.ts'
import { ssrfEndpoint } from './references/endpoints.ts'
import { providerTargetRepo, receiverUnauthenticated, receiverWildcard } from './references/notifications.ts'
import { sourceAcl } from './references/source-access.ts'
import { schemaMismatch } from './schema/schema-mismatch.ts'
import { decryptionRef, sopsCiphertextReuse } from './secrets/decryption-keys.ts'
import { plaintextSecret, unencryptedSetting } from './secrets/plaintext-secret.ts'
import { externalSecretClusterStore, protectedObjectName } from './secrets/platform-secrets.ts'
import { sopsNotDecrypted } from './secrets/sops-not-decrypted.ts'
import { sopsRecipient } from './secrets/sops-recipient.ts'
import { chartContentChange, chartNotRendered } from './sources/charts.ts'
import { imageAutomationPush } from './sources/image-automation.ts'
import { intervalLimits } from './sources/interval-limits.ts'
import { sourceInclude, sourceOpaque } from './sources/opaque-sources.ts'
import {
  sourceInsecureTransport,
  sourceProxy,
  sourceRepoIdentity,
  sourceUrlAllowlist,
  sourceUrlMalformed,
} from './sources/source-addresses.ts'
import { platformSecretSent, sourceCredentialExfil } from './sources/source-credentials.ts'
import { sourceNewVersion } from './sources/source-new-version.ts'
import { gitRefAmbiguous, sourceMutableRef, sourcePullRef, sourceUngatedRef } from './sources/source-refs.ts'
import { sourceVerifyRemoved } from './sources/source-verification.ts'
import { admissionConfig, crdAdmission } from './workloads/admission-config.ts'
import { helmValuesPrivileged } from './workloads/helm-values.ts'
import { networkExposure, networkPolicyOpen } from './workloads/network.ts'
import { nodePlacement, podPriority } from './workloads/placement.ts'
import { podSecurity } from './workloads/pod-security.ts'
import { ingressHijack } from './workloads/routes.ts'

/** Every rule that there is, sorted by id. Written by docs/generate-rules.ts. */
export const rules: readonly Rule[] = [
  accountCannotApply,
  admissionConfig,
  baselineGrowth,
  capsuleAccountRights,
  capsuleDenied,
  capsuleGroupMissing,
  capsuleOwnerChange,
  capsulePolicyWeakened,
  capsuleProxySetting,
  capsuleTenantResource,
  chartContentChange,
  chartNotRendered,
  clusterScopedForbidden,
  configUnused,
  controllerRights,
  crdAdmission,
  crossNamespaceNetworkRef,
  crossNamespaceRef,
  decryptionRef,
  defaultSaPrivileged,
  embeddedContent,
  embeddedItems,
  externalSecretClusterStore,
  fluxControlPlaneObject,
  fluxLockdownWeakened,
  forceApply,
  gitAttributesTamper,
  gitLfsPointer,
  gitPathAmbiguous,
  gitRefAmbiguous,
  helmPostRenderer,
  helmValuesPrivileged,
  identityObjectTamper,
  imageAutomationPush,
  imageUnverified,
  ingressHijack,
  intervalLimits,
  invalidObject,
  kindNotEvaluated,
  kubeconfigContent,
  kubeconfigRef,
  kustomizeCaseVariantKey,
  kustomizeHelmInflate,
  kustomizeMultipleFiles,
  kustomizePathEscape,
  kustomizePlugin,
  kustomizeRemoteBase,
  kustomizeSymlink,
  massDeletion,
  namespaceConfinement,
  namespaceOwnership,
  namespaceProtectedMetadata,
  networkExposure,
  networkPolicyOpen,
  nodePlacement,
  ownerFinalizerTamper,
  ownerLabelForged,
  ownershipConflict,
  patchUnmatched,
  plaintextSecret,
  platformSecretSent,
  podPriority,
  podSecurity,
  policyDenied,
  policyLoosened,
  policyNotEvaluated,
  protectedObjectName,
  providerTargetRepo,
  pruneAccountRemoved,
  pruneProtected,
  quotaTamper,
  rbacAggregation,
  rbacClusterBinding,
  rbacDanglingRole,
  rbacEscalation,
  rbacFluxStatusWrite,
  rbacForeignSubject,
  rbacPublicSubject,
  receiverUnauthenticated,
  receiverWildcard,
  renderLimits,
  renderParity,
  saForeign,
  saRequired,
  saTokenSecret,
  schemaMismatch,
  secretExfilSubstitution,
  sopsCiphertextReuse,
  sopsNotDecrypted,
  sopsRecipient,
  sourceAcl,
  sourceCredentialExfil,
  sourceIgnoreTamper,
  sourceInclude,
  sourceInsecureTransport,
  sourceMutableRef,
  sourceNewVersion,
  sourceOpaque,
  sourceProxy,
  sourcePullRef,
  sourceRepoIdentity,
  sourceSubmodules,
  sourceUngatedRef,
  sourceUrlAllowlist,
  sourceUrlMalformed,
  sourceVerifyRemoved,
  ssrfEndpoint,
  substitutionInjection,
  targetNamespace,
  tenantRemoved,
  unconfinedSource,
  unencryptedSetting,
  unicodeConfusable,
  unknownScope,
  unrenderedVariable,
  waiverUnused,
  workloadIdentityAnnotation,
  workloadUsesReconcilerSa,
  yamlAmbiguous,
  yamlEncoding,
]
