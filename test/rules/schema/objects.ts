/** One valid object of each kind that fleets use, with many of its fields: what the API server of a test accepts. */
const POD = `metadata: {labels: {app: x}}
spec:
  serviceAccountName: runner
  securityContext: {runAsNonRoot: true, fsGroup: 100, fsGroupChangePolicy: OnRootMismatch, seccompProfile: {type: RuntimeDefault}}
  tolerations: [{key: a, operator: Equal, value: b, effect: NoSchedule}]
  topologySpreadConstraints:
    - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: x}}}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: arch, operator: In, values: [amd64]}]}]
  initContainers: [{name: first, image: busybox}]
  containers:
    - name: web
      image: nginx:1
      imagePullPolicy: IfNotPresent
      command: [sh, -c, "true"]
      env: [{name: A, value: "1"}, {name: B, valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}}]
      envFrom: [{configMapRef: {name: settings}}]
      ports: [{name: http, containerPort: 8080, protocol: TCP}]
      resources: {requests: {cpu: 100m, memory: 1Gi}, limits: {memory: 2Gi}}
      livenessProbe: {httpGet: {path: /, port: http, scheme: HTTP}, periodSeconds: 10}
      securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
      volumeMounts: [{name: data, mountPath: /data, readOnly: true}]
  volumes: [{name: data, configMap: {name: settings, items: [{key: a, path: b}], defaultMode: 420}}]`

const indented = (text: string, by: number) => text.replaceAll('\n', `\n${' '.repeat(by)}`)
const RULE = '{apiGroups: [""], resources: [pods], verbs: [get], resourceNames: [a]}'
const meta = 'metadata: {name: x, labels: {app: x}, annotations: {note: y}}'

export const OBJECTS: readonly string[] = [
  `apiVersion: v1\nkind: Pod\n${POD.replace('metadata: {labels: {app: x}}', meta)}\n  restartPolicy: Never\n`,
  `apiVersion: apps/v1\nkind: Deployment\n${meta}\nspec:\n  replicas: 2\n  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 1}}\n  selector: {matchLabels: {app: x}}\n  template:\n    ${indented(POD, 4)}\n`,
  `apiVersion: apps/v1\nkind: StatefulSet\n${meta}\nspec:\n  serviceName: x\n  podManagementPolicy: Parallel\n  selector: {matchLabels: {app: x}}\n  template:\n    ${indented(POD, 4)}\n  volumeClaimTemplates:\n    - metadata: {name: data2}\n      spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n`,
  `apiVersion: apps/v1\nkind: DaemonSet\n${meta}\nspec:\n  updateStrategy: {type: OnDelete}\n  selector: {matchLabels: {app: x}}\n  template:\n    ${indented(POD, 4)}\n`,
  `apiVersion: batch/v1\nkind: Job\n${meta}\nspec:\n  backoffLimit: 2\n  completionMode: NonIndexed\n  template:\n    ${indented(POD, 4)}\n      restartPolicy: Never\n`,
  `apiVersion: batch/v1\nkind: CronJob\n${meta}\nspec:\n  schedule: "0 * * * *"\n  concurrencyPolicy: Forbid\n  jobTemplate:\n    spec:\n      template:\n        ${indented(POD, 8)}\n          restartPolicy: OnFailure\n`,
  `apiVersion: v1\nkind: Service\n${meta}\nspec:\n  type: NodePort\n  externalTrafficPolicy: Local\n  selector: {app: x}\n  ports: [{name: http, port: 80, targetPort: http, protocol: TCP}, {name: udp, port: 80, targetPort: 53, protocol: UDP}]\n`,
  `apiVersion: networking.k8s.io/v1\nkind: Ingress\n${meta}\nspec:\n  ingressClassName: nginx\n  tls: [{hosts: [a.example.com], secretName: tls}]\n  rules:\n    - host: a.example.com\n      http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: x, port: {number: 80}}}}]}\n`,
  `apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\n${meta}\nspec:\n  podSelector: {matchLabels: {app: x}}\n  policyTypes: [Ingress]\n  ingress: [{from: [{namespaceSelector: {}}], ports: [{protocol: TCP, port: 80}]}]\n`,
  `apiVersion: v1\nkind: ConfigMap\n${meta}\ndata: {a: b}\nbinaryData: {c: aGk=}\nimmutable: true\n`,
  `apiVersion: v1\nkind: Secret\n${meta}\ntype: Opaque\nstringData: {a: b}\ndata: {c: aGk=}\n`,
  `apiVersion: v1\nkind: ServiceAccount\n${meta}\nautomountServiceAccountToken: false\nimagePullSecrets: [{name: pull}]\n`,
  `apiVersion: v1\nkind: Namespace\n${meta}\n`,
  `apiVersion: v1\nkind: PersistentVolumeClaim\n${meta}\nspec: {accessModes: [ReadWriteOnce], volumeMode: Filesystem, resources: {requests: {storage: 1Gi}}}\n`,
  `apiVersion: v1\nkind: ResourceQuota\n${meta}\nspec: {hard: {pods: "10", requests.cpu: 2}, scopes: [NotTerminating]}\n`,
  `apiVersion: v1\nkind: LimitRange\n${meta}\nspec: {limits: [{type: Container, default: {cpu: 500m}, defaultRequest: {cpu: 100m}}]}\n`,
  `apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n${meta}\nrules: [${RULE}]\n`,
  `apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n${meta}\naggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}\nrules: [${RULE}]\n`,
  `apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\n${meta}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: x}\nsubjects: [{kind: ServiceAccount, name: a, namespace: b}]\n`,
  `apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\n${meta}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: x}\nsubjects: [{kind: Group, apiGroup: rbac.authorization.k8s.io, name: a}]\n`,
  `apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n${meta}\nspec:\n  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: x}\n  minReplicas: 1\n  maxReplicas: 3\n  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]\n`,
  `apiVersion: policy/v1\nkind: PodDisruptionBudget\n${meta}\nspec: {minAvailable: 1, selector: {matchLabels: {app: x}}, unhealthyPodEvictionPolicy: AlwaysAllow}\n`,
  `apiVersion: storage.k8s.io/v1\nkind: StorageClass\n${meta}\nprovisioner: a.example.com\nreclaimPolicy: Retain\nvolumeBindingMode: WaitForFirstConsumer\nallowVolumeExpansion: true\nparameters: {a: b}\n`,
  `apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n${meta}\nvalue: 1000\npreemptionPolicy: Never\n`,
  `apiVersion: networking.k8s.io/v1\nkind: IngressClass\n${meta}\nspec: {controller: example.com/ingress}\n`,
  `apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n${meta}\nwebhooks:\n  - name: a.example.com\n    admissionReviewVersions: [v1]\n    sideEffects: None\n    failurePolicy: Fail\n    clientConfig: {service: {name: a, namespace: b}}\n    rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]\n`,
  `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\nspec:\n  group: example.com\n  scope: Namespaced\n  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}\n  versions:\n    - name: v1\n      served: true\n      storage: true\n      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer, default: 1, enum: [1, 2]}}}}}}\n`,
  `apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n${meta}\nspec:\n  failurePolicy: Fail\n  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}\n  validations: [{expression: "true", message: no}]\n`,
]
