import { capsuleAccountRights } from './capsule/capsule-account-rights.ts'
import { capsuleDenied } from './capsule/capsule-denied.ts'
import { capsuleGroupMissing } from './capsule/capsule-group-missing.ts'
import { capsuleOwnerChange } from './capsule/capsule-owner-change.ts'
import { capsulePolicyWeakened } from './capsule/capsule-policy-weakened.ts'
import { capsuleProxySetting } from './capsule/capsule-proxy-setting.ts'
import { capsuleTenantResource } from './capsule/capsule-tenant-resource.ts'
import { baselineGrowth } from './config/baseline-growth.ts'
import { configUnused } from './config/config-unused.ts'
import { waiverUnused } from './config/waiver-unused.ts'
import { fluxControlPlaneObject } from './flux/flux-control-plane-object.ts'
import { fluxLockdownWeakened } from './flux/flux-lockdown-weakened.ts'
import { gitAttributesTamper } from './git/git-attributes-tamper.ts'
import { gitLfsPointer } from './git/git-lfs-pointer.ts'
import { gitPathAmbiguous } from './git/git-path-ambiguous.ts'
import { gitRefAmbiguous } from './git/git-ref-ambiguous.ts'
import { sourceIgnoreTamper } from './git/source-ignore-tamper.ts'
import { accountCannotApply } from './identity/account-cannot-apply.ts'
import { controllerRights } from './identity/controller-rights.ts'
import { defaultSaPrivileged } from './identity/default-sa-privileged.ts'
import { identityObjectTamper } from './identity/identity-object-tamper.ts'
import { kubeconfigContent } from './identity/kubeconfig-content.ts'
import { kubeconfigRef } from './identity/kubeconfig-ref.ts'
import { saForeign } from './identity/sa-foreign.ts'
import { saRequired } from './identity/sa-required.ts'
import { saTokenSecret } from './identity/sa-token-secret.ts'
import { unconfinedSource } from './identity/unconfined-source.ts'
import { workloadIdentityAnnotation } from './identity/workload-identity-annotation.ts'
import { workloadUsesReconcilerSa } from './identity/workload-uses-reconciler-sa.ts'
import { kustomizeCaseVariantKey } from './kustomize/kustomize-case-variant-key.ts'
import { kustomizeHelmInflate } from './kustomize/kustomize-helm-inflate.ts'
import { kustomizeMultipleFiles } from './kustomize/kustomize-multiple-files.ts'
import { kustomizePathEscape } from './kustomize/kustomize-path-escape.ts'
import { kustomizePlugin } from './kustomize/kustomize-plugin.ts'
import { kustomizeRemoteBase } from './kustomize/kustomize-remote-base.ts'
import { kustomizeSymlink } from './kustomize/kustomize-symlink.ts'
import { patchUnmatched } from './kustomize/patch-unmatched.ts'
import { renderLimits } from './kustomize/render-limits.ts'
import { renderParity } from './kustomize/render-parity.ts'
import { substitutionInjection } from './kustomize/substitution-injection.ts'
import { unicodeConfusable } from './kustomize/unicode-confusable.ts'
import { unrenderedVariable } from './kustomize/unrendered-variable.ts'
import { yamlAmbiguous } from './kustomize/yaml-ambiguous.ts'
import { yamlEncoding } from './kustomize/yaml-encoding.ts'
import type { Rule } from './model/rule.ts'
import { clusterScopedForbidden } from './namespaces/cluster-scoped-forbidden.ts'
import { embeddedContent } from './namespaces/embedded-content.ts'
import { embeddedItems } from './namespaces/embedded-items.ts'
import { helmPostRenderer } from './namespaces/helm-post-renderer.ts'
import { invalidObject } from './namespaces/invalid-object.ts'
import { kindNotEvaluated } from './namespaces/kind-not-evaluated.ts'
import { namespaceConfinement } from './namespaces/namespace-confinement.ts'
import { namespaceOwnership } from './namespaces/namespace-ownership.ts'
import { namespaceProtectedMetadata } from './namespaces/namespace-protected-metadata.ts'
import { protectedObjectName } from './namespaces/protected-object-name.ts'
import { targetNamespace } from './namespaces/target-namespace.ts'
import { tenantRemoved } from './namespaces/tenant-removed.ts'
import { unknownScope } from './namespaces/unknown-scope.ts'
import { forceApply } from './ownership/force-apply.ts'
import { massDeletion } from './ownership/mass-deletion.ts'
import { networkPolicyOpen } from './ownership/network-policy-open.ts'
import { ownerFinalizerTamper } from './ownership/owner-finalizer-tamper.ts'
import { ownerLabelForged } from './ownership/owner-label-forged.ts'
import { ownershipConflict } from './ownership/ownership-conflict.ts'
import { pruneAccountRemoved } from './ownership/prune-account-removed.ts'
import { pruneProtected } from './ownership/prune-protected.ts'
import { quotaTamper } from './ownership/quota-tamper.ts'
import { imageUnverified } from './policies/image-unverified.ts'
import { policyDenied } from './policies/policy-denied.ts'
import { policyLoosened } from './policies/policy-loosened.ts'
import { policyNotEvaluated } from './policies/policy-not-evaluated.ts'
import { rbacAggregation } from './rbac/rbac-aggregation.ts'
import { rbacClusterBinding } from './rbac/rbac-cluster-binding.ts'
import { rbacDanglingRole } from './rbac/rbac-dangling-role.ts'
import { rbacEscalation } from './rbac/rbac-escalation.ts'
import { rbacFluxStatusWrite } from './rbac/rbac-flux-status-write.ts'
import { rbacForeignSubject } from './rbac/rbac-foreign-subject.ts'
import { rbacPublicSubject } from './rbac/rbac-public-subject.ts'
import { crossNamespaceNetworkRef } from './references/cross-namespace-network-ref.ts'
import { crossNamespaceRef } from './references/cross-namespace-ref.ts'
import { externalSecretClusterStore } from './references/external-secret-cluster-store.ts'
import { providerTargetRepo } from './references/provider-target-repo.ts'
import { receiverUnauthenticated } from './references/receiver-unauthenticated.ts'
import { receiverWildcard } from './references/receiver-wildcard.ts'
import { sourceAcl } from './references/source-acl.ts'
import { ssrfEndpoint } from './references/ssrf-endpoint.ts'
import { schemaMismatch } from './schema/schema-mismatch.ts'
import { decryptionRef } from './secrets/decryption-ref.ts'
import { plaintextSecret } from './secrets/plaintext-secret.ts'
import { platformSecretSent } from './secrets/platform-secret-sent.ts'
import { secretExfilSubstitution } from './secrets/secret-exfil-substitution.ts'
import { sopsCiphertextReuse } from './secrets/sops-ciphertext-reuse.ts'
import { sopsNotDecrypted } from './secrets/sops-not-decrypted.ts'
import { sopsRecipient } from './secrets/sops-recipient.ts'
import { unencryptedSetting } from './secrets/unencrypted-setting.ts'
import { chartContentChange } from './sources/chart-content-change.ts'
import { chartNotRendered } from './sources/chart-not-rendered.ts'
import { imageAutomationPush } from './sources/image-automation-push.ts'
import { intervalLimits } from './sources/interval-limits.ts'
import { sourceCredentialExfil } from './sources/source-credential-exfil.ts'
import { sourceInclude } from './sources/source-include.ts'
import { sourceInsecureTransport } from './sources/source-insecure-transport.ts'
import { sourceMutableRef } from './sources/source-mutable-ref.ts'
import { sourceNewVersion } from './sources/source-new-version.ts'
import { sourceOpaque } from './sources/source-opaque.ts'
import { sourceProxy } from './sources/source-proxy.ts'
import { sourcePullRef } from './sources/source-pull-ref.ts'
import { sourceRepoIdentity } from './sources/source-repo-identity.ts'
import { sourceSubmodules } from './sources/source-submodules.ts'
import { sourceUngatedRef } from './sources/source-ungated-ref.ts'
import { sourceUrlAllowlist } from './sources/source-url-allowlist.ts'
import { sourceUrlMalformed } from './sources/source-url-malformed.ts'
import { sourceVerifyRemoved } from './sources/source-verify-removed.ts'
import { admissionConfig } from './workloads/admission-config.ts'
import { crdAdmission } from './workloads/crd-admission.ts'
import { helmValuesPrivileged } from './workloads/helm-values-privileged.ts'
import { ingressHijack } from './workloads/ingress-hijack.ts'
import { networkExposure } from './workloads/network-exposure.ts'
import { nodePlacement } from './workloads/node-placement.ts'
import { podPriority } from './workloads/pod-priority.ts'
import { podSecurity } from './workloads/pod-security.ts'

/** Every rule that there is, sorted by id: one for each file that exports one. Written by docs/generate-rules.ts. */
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
