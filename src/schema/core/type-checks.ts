import { checkClusterRole, checkClusterRoleBinding, checkRole, checkRoleBinding } from './access.ts'
import { checkConfigMap, checkSecret } from './contents.ts'
import { checkNamespace, checkWebhook } from './definitions.ts'
import { checkMetadata, checkNodeRequirement, checkRequirement } from './labels.ts'
import {
  checkBlock,
  checkIngress,
  checkIngressPath,
  checkPeer,
  checkPolicyPort,
  checkPolicyTypes,
  checkService,
} from './network.ts'
import {
  checkContainer,
  checkFieldPath,
  checkImages,
  checkMount,
  checkPod,
  checkPodMounts,
  checkSecurity,
  checkToleration,
  checkVariable,
} from './pod.ts'
import type { TypeCheck } from './read-field.ts'
import { checkClaim, checkLimits, checkQuota, checkResources } from './resources.ts'
import { checkAutoscaler, checkMetric } from './scaling.ts'
import { checkBudget, checkController, WORKLOADS } from './workloads.ts'

/** Checks by object type that the tables of fields cannot express. */
export const TYPE_CHECKS: Readonly<Record<string, readonly TypeCheck[]>> = {
  ...WORKLOADS,
  'meta.v1.ObjectMeta': [checkMetadata],
  'meta.v1.LabelSelectorRequirement': [checkRequirement],
  'core.v1.NodeSelectorRequirement': [checkNodeRequirement],
  'core.v1.Pod': [checkPodMounts, checkImages],
  'core.v1.PodSpec': [checkPod],
  'core.v1.Container': [checkContainer],
  'core.v1.EnvVar': [checkVariable],
  'core.v1.VolumeMount': [checkMount],
  'core.v1.SecurityContext': [checkSecurity],
  'core.v1.Toleration': [checkToleration],
  'core.v1.ResourceRequirements': [checkResources],
  'core.v1.PersistentVolumeClaimSpec': [checkClaim],
  'core.v1.ServiceSpec': [checkService],
  'core.v1.Secret': [checkSecret],
  'core.v1.ConfigMap': [checkConfigMap],
  'core.v1.LimitRangeItem': [checkLimits],
  'core.v1.ResourceQuotaSpec': [checkQuota],
  'core.v1.ReplicationControllerSpec': [checkController],
  'core.v1.Namespace': [checkNamespace],
  'core.v1.ObjectFieldSelector': [checkFieldPath],
  'admissionregistration.v1.ValidatingWebhook': [checkWebhook],
  'admissionregistration.v1.MutatingWebhook': [checkWebhook],
  'networking.v1.NetworkPolicySpec': [checkPolicyTypes],
  'networking.v1.IngressSpec': [checkIngress],
  'networking.v1.HTTPIngressPath': [checkIngressPath],
  'networking.v1.IPBlock': [checkBlock],
  'networking.v1.NetworkPolicyPeer': [checkPeer],
  'networking.v1.NetworkPolicyPort': [checkPolicyPort],
  'autoscaling.v2.HorizontalPodAutoscalerSpec': [checkAutoscaler],
  'autoscaling.v2.MetricSpec': [checkMetric],
  'policy.v1.PodDisruptionBudgetSpec': [checkBudget],
  'rbac.v1.Role': [checkRole],
  'rbac.v1.ClusterRole': [checkClusterRole],
  'rbac.v1.RoleBinding': [checkRoleBinding],
  'rbac.v1.ClusterRoleBinding': [checkClusterRoleBinding],
}
