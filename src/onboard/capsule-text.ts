import { CAPSULE_FILE, capsuleManifest } from './capsule-objects.ts'
import { type CapsulePlan, groupOfAccounts } from './capsule-plan.ts'
import { codeSpan as code } from './code-span.ts'
import { accountOf, kubeConfigSecretOf, type OnboardRequest } from './request.ts'

const PROXY = 'https://capsule-proxy.capsule-system.svc:9001'

/** What is written and what is left to do by hand where a cluster uses Capsule; Markdown. The steps are those of capsule-addon-fluxcd. */
export function capsuleText(request: OnboardRequest, plan: CapsulePlan | undefined): string[] {
  if (!plan) return []
  const secret = kubeConfigSecretOf(request)
  const where = plan.clusters.map(code).join(', ')
  return [
    '### Capsule',
    ...(plan.isWritten ? [writtenText(request, plan, where)] : byHand(request, plan, where)),
    ...kubeConfigText(request, plan),
    plan.isWritten && plan.kubeConfigKey !== undefined
      ? `The Kustomization in ${code('sync.yaml')} names this Secret. It is not applied until the Secret exists.`
      : `Then add to the Kustomization in ${code('sync.yaml')}: ${code(`kubeConfig: {secretRef: {name: ${secret}, key: kubeconfig}}`)}. Until then the account works in its namespaces only, without Capsule's proxy.`,
  ]
}

/** How the Secret comes to be; Markdown. */
function kubeConfigText(request: OnboardRequest, plan: CapsulePlan): string[] {
  const [first = '', ...commands] = kubeConfigSteps(request, plan)
  return [first, ...(commands.length > 0 ? [`\`\`\`\n${commands.join('\n')}\n\`\`\``] : [])]
}

/** How the kubeconfig Secret of the account comes to be: a sentence, and the commands for it, if any; plain text. */
export function kubeConfigSteps(request: OnboardRequest, plan: CapsulePlan | undefined): string[] {
  if (!plan) return []
  const [home = ''] = request.namespaces
  const secret = kubeConfigSecretOf(request)
  if (plan.isWritten && plan.addon)
    return [
      `capsule-addon-fluxcd makes the Secret ${home}/${secret} and the rights of the account at Capsule's proxy, by the annotations of the account.`,
    ]
  return [
    `Git cannot hold the token of the account, so the Secret ${home}/${secret} is made on the cluster. If clusters.yaml of the worker lists Capsule's proxy with tokens, the worker makes it and renews the token. Otherwise run these commands, and again before the token expires:`,
    ...kubeconfigCommands(home, accountOf(request), secret),
  ]
}

function writtenText(request: OnboardRequest, plan: CapsulePlan, where: string): string {
  const [home = ''] = request.namespaces
  return [
    `Tenants of ${where} are Capsule Tenants. ${code(CAPSULE_FILE)} has the Tenant ${code(request.tenant)}, owned by ${code(`${home}/${accountOf(request)}`)}.`,
    ...(plan.addon ? [] : [`- The account may impersonate itself, which Capsule's proxy asks for.`]),
    `- ${code(groupOfAccounts(request))} is added to ${code('spec.userGroups')} of the CapsuleConfiguration: Capsule ignores accounts of other groups. Capsule lets these accounts create and patch namespaces of the Tenant.`,
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
