import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'

/** A file of acme's dev-team with some texts replaced; throws where one is not there. */
export function dev(path: string, ...replaced: readonly (readonly [text: string, by: string])[]): string {
  let content = fleetFiles('acme/dev-team')[path]!
  for (const [text, by] of replaced) {
    if (!content.includes(text)) throw new Error(`${path} does not hold ${text}`)
    content = content.replaceAll(text, by)
  }
  return content
}

/** The base of dev-team with more files among its resources. */
export function withFiles(files: Readonly<Record<string, string>>): Record<string, string> {
  const names = Object.keys(files).map(name => `  - ${name}\n`)
  const added = Object.fromEntries(Object.entries(files).map(([name, content]) => [`base/${name}`, content]))
  return {
    ...added,
    'base/kustomization.yaml': dev('base/kustomization.yaml', [
      '  - widget.yaml\n',
      `  - widget.yaml\n${names.join('')}`,
    ]),
  }
}

/** A ConfigMap of the namespace of dev-team. */
export function configMap(name: string, data: Readonly<Record<string, string>>, more = ''): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${JSON.stringify(name)}\n${more}data: ${JSON.stringify(data)}\n`
}

/** A Role of the namespace of dev-team, and who has it. */
export function role(name: string, account: string, rules: string): string {
  return `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: ${name}}
rules: ${rules}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: ${name}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: ${name}}
subjects: [{kind: ServiceAccount, name: ${account}, namespace: apps}]
`
}
