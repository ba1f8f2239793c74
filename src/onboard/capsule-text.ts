import type { Fleet } from '../fleet/model/fleet.ts'
import { groupOf, idOf } from '../kube/object.ts'
import { codeSpan as code } from './code-span.ts'
import { printManifests } from './manifests/print-manifest.ts'
import { accountOf, type OnboardRequest, roleOf } from './request.ts'

const GROUP = 'capsule.clastix.io'
const RBAC = 'rbac.authorization.k8s.io'
const PROXY = 'https://capsule-proxy.capsule-system.svc:9001'

/** Clusters of a request whose tenants are Capsule Tenants. */
export function capsuleClusters(fleet: Fleet, { clusters }: OnboardRequest): string[] {
  return clusters.filter(cluster =>
    fleet.nodes.some(
      node =>
        node.cluster === cluster &&
        node.objects.some(object => {
          const { apiVersion, kind } = idOf(object)
          return kind === 'Tenant' && groupOf(apiVersion) === GROUP
        }),
    ),
  )
}

/** What is left to do by hand where a cluster uses Capsule; Markdown. The steps are those of capsule-addon-fluxcd. */
export function capsuleText(request: OnboardRequest, clusters: readonly string[]): string[] {
  if (clusters.length === 0) return []
  const { tenant, namespaces } = request
  const [home = ''] = namespaces
  const account = accountOf(request)
  const secret = `${account}-kubeconfig`
  return [
    '### Capsule',
    `⚠️ ${clusters.map(code).join(', ')}: tenants there are Capsule Tenants, and this pull request does not make one. Without these steps, the account ${code(`${home}/${account}`)} works in its namespaces only, and Capsule does not check it.`,
    `1. Add to ${code('rbac.yaml')}:`,
    `\`\`\`yaml\n${printManifests(capsuleObjects({ tenant, home, account, role: roleOf(request) }))}\`\`\``,
    [
      `2. Add ${code(`system:serviceaccounts:${home}`)} to ${code('spec.userGroups')} of the CapsuleConfiguration. Capsule ignores accounts of other groups.`,
      `3. With capsule-addon-fluxcd, annotate the ServiceAccount with ${code('capsule.addon.fluxcd/enabled: "true"')}; the addon makes the Secret ${code(secret)}. Otherwise make it yourself, and again before the token expires:`,
    ].join('\n'),
    `\`\`\`\n${kubeconfigCommands(home, account, secret).join('\n')}\n\`\`\``,
    `4. Add to the Kustomization in ${code('sync.yaml')}: ${code(`kubeConfig: {secretRef: {name: ${secret}, key: kubeconfig}}`)}.`,
  ]
}

function capsuleObjects({
  tenant,
  home,
  account,
  role,
}: { readonly [key in 'tenant' | 'home' | 'account' | 'role']: string }) {
  const user = `system:serviceaccount:${home}:${account}`
  const subject = { kind: 'ServiceAccount', name: account, namespace: home }
  const name = `${home}-${account}-impersonator`
  return [
    {
      apiVersion: `${GROUP}/v1beta2`,
      kind: 'Tenant',
      metadata: { name: tenant },
      spec: {
        additionalRoleBindings: [{ clusterRoleName: role, subjects: [subject] }],
        owners: [{ kind: 'ServiceAccount', name: user }],
      },
    },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: { name },
      rules: [{ apiGroups: [''], resourceNames: [user], resources: ['users'], verbs: ['impersonate'] }],
    },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
      subjects: [subject],
    },
  ]
}

/** The file holds a token: it is removed at the end. */
function kubeconfigCommands(home: string, account: string, secret: string): string[] {
  const config = 'kubectl config --kubeconfig=kubeconfig'
  return [
    'umask 077',
    `kubectl get secret capsule-proxy --namespace=capsule-system -o jsonpath='{.data.ca}' | base64 -d > ca.crt`,
    `${config} set-cluster default --server=${PROXY} --certificate-authority=ca.crt --embed-certs`,
    `${config} set-credentials default --token="$(kubectl create token ${account} --namespace=${home} --duration=24h)"`,
    `${config} set-context default --cluster=default --user=default --namespace=default`,
    `${config} use-context default`,
    `kubectl create secret generic ${secret} --namespace=${home} --from-file=kubeconfig`,
    'rm kubeconfig ca.crt',
  ]
}
