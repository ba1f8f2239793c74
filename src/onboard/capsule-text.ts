import { CAPSULE_FILE, capsuleManifest } from './capsule-objects.ts'
import { type CapsulePlan, groupOfAccounts } from './capsule-plan.ts'
import { codeSpan as code } from './code-span.ts'
import { accountOf, kubeConfigSecretOf, type OnboardRequest } from './request.ts'

const PROXY = 'https://capsule-proxy.capsule-system.svc:9001'

/** What is written and what is left to do by hand where a cluster uses Capsule; Markdown. The steps are those of capsule-addon-fluxcd. */
export function capsuleText(request: OnboardRequest, plan: CapsulePlan | undefined): string[] {
  if (!plan) return []
  const [home = ''] = request.namespaces
  const account = accountOf(request)
  const secret = kubeConfigSecretOf(request)
  const where = plan.clusters.map(code).join(', ')
  return [
    '### Capsule',
    ...(plan.isWritten ? [writtenText(request, plan, where)] : byHand(request, plan, where)),
    `Git cannot hold the token of the account, so the Secret ${code(secret)} in ${code(home)} is made on the cluster. If ${code('clusters.yaml')} of the worker lists Capsule's proxy with ${code('tokens')}, the worker makes it and renews the token. With capsule-addon-fluxcd, annotate the ServiceAccount with ${code('capsule.addon.fluxcd/enabled: "true"')}. Otherwise make it yourself, and again before the token expires:`,
    `\`\`\`\n${kubeconfigCommands(home, account, secret).join('\n')}\n\`\`\``,
    plan.isWritten && plan.kubeConfigKey !== undefined
      ? `The Kustomization in ${code('sync.yaml')} names this Secret. It is not applied until the Secret exists.`
      : `Then add to the Kustomization in ${code('sync.yaml')}: ${code(`kubeConfig: {secretRef: {name: ${secret}, key: kubeconfig}}`)}. Until then the account works in its namespaces only, without Capsule's proxy.`,
  ]
}

function writtenText(request: OnboardRequest, plan: CapsulePlan, where: string): string {
  const [home = ''] = request.namespaces
  return [
    `Tenants of ${where} are Capsule Tenants. ${code(CAPSULE_FILE)} has the Tenant ${code(request.tenant)}, owned by ${code(`${home}/${accountOf(request)}`)}, and two cluster-wide rights:`,
    `- The account may impersonate itself, which Capsule's proxy asks for.`,
    `- The accounts of ${code(home)} may patch namespaces: Capsule decides for which. ${code(groupOfAccounts(request))} is added to ${code('spec.userGroups')} of the CapsuleConfiguration, because Capsule ignores accounts of other groups.`,
    ...policiesText(plan),
  ].join('\n')
}

/** What the new Tenant shares with the others, and what an admin must decide. */
function policiesText({ shared = {}, unshared }: CapsulePlan): string[] {
  const fields = (names: readonly string[]) => names.map(name => code(`spec.${name}`)).join(', ')
  const common = Object.keys(shared).sort()
  return [
    ...(common.length > 0 ? [`- As every other Tenant there, it has ${fields(common)}.`] : []),
    ...(unshared.length > 0
      ? [
          `- ⚠️ It does not have ${fields(unshared)}: the other Tenants differ, or the value names a tenant. Add them to ${code(CAPSULE_FILE)}.`,
        ]
      : []),
  ]
}

function byHand(request: OnboardRequest, plan: CapsulePlan, where: string): string[] {
  return [
    `⚠️ ${where}: tenants there are Capsule Tenants, and this pull request does not make one: ${plan.why}. Without it, Capsule does not check the account. Add to ${code('rbac.yaml')}:`,
    `\`\`\`yaml\n${capsuleManifest(request, plan)}\`\`\``,
    `Add ${code(groupOfAccounts(request))} to ${code('spec.userGroups')} of the CapsuleConfiguration. Capsule ignores accounts of other groups.`,
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
