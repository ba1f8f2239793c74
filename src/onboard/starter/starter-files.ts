import { pathOn } from '../plan.ts'
import { accountOf, clusterRoleOf, type OnboardRequest } from '../request.ts'

/** A file for the repository of a tenant. */
interface StarterFile {
  readonly path: string
  readonly content: string
}

const OWNERS = ['CODEOWNERS', 'docs/CODEOWNERS', '.github/CODEOWNERS']

/**
 * What the repository of a new tenant still needs so that its Kustomization has something to build: an example in each directory
 * without YAML, a README, owners. A file that is there is never changed. `paths`: all files of the repository.
 */
export function starterFiles(request: OnboardRequest, paths: readonly string[]): StarterFile[] {
  const known = new Set(paths.map(path => path.toLowerCase()))
  const directories = [...new Set(request.clusters.map(cluster => clean(pathOn(request, cluster) ?? './')))]
  const readme = paths.some(path => /^(?:\.github\/|docs\/)?readme(?:\.\w+)?$/i.test(path))
  const owned = OWNERS.some(path => known.has(path.toLowerCase()))
  return [
    ...directories.filter(directory => isEmpty(directory, paths)).flatMap(directory => example(request, directory)),
    ...(readme ? [] : [{ path: 'README.md', content: readmeText(request, directories) }]),
    ...(owned || request.team === undefined ? [] : [{ path: '.github/CODEOWNERS', content: `* @${request.team}\n` }]),
  ]
}

/** Without YAML: a kustomization beside what Flux applies already would take it away. */
function isEmpty(directory: string, paths: readonly string[]): boolean {
  const within = directory === '' ? paths : paths.filter(path => path.startsWith(`${directory}/`))
  return !within.some(path => /(?:\.ya?ml|\/Kustomization|^Kustomization)$/.test(path) && !path.startsWith('.github/'))
}

function example({ tenant, namespaces }: OnboardRequest, directory: string): StarterFile[] {
  const at = (name: string) => (directory === '' ? name : `${directory}/${name}`)
  const kustomization = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: ${namespaces[0]}
resources:
  - example.yaml
`
  const content = `apiVersion: v1
kind: ConfigMap
metadata:
  name: ${tenant}-example
data:
  message: Replace this file with your own objects.
`
  return [
    { path: at('kustomization.yaml'), content: kustomization },
    { path: at('example.yaml'), content },
  ]
}

function readmeText(request: OnboardRequest, directories: readonly string[]): string {
  const { tenant, namespaces, branch } = request
  const folders = directories.map(one => (one === '' ? 'the root of the repository' : `\`${one}\``)).join(', ')
  return `# ${tenant}

Flux applies the branch \`${branch}\` of this repository to Kubernetes.

- Kustomizations begin in ${folders}. Each \`kustomization.yaml\` lists the files that are applied.
- Objects are applied in the namespace \`${namespaces[0]}\`, by the account \`${accountOf(request)}\` with the role \`${clusterRoleOf(request)}\`.
- Objects of other namespaces and of the whole cluster are refused. The check on each pull request shows this before the merge.
`
}

const clean = (path: string) =>
  path
    .split('/')
    .filter(part => part !== '' && part !== '.')
    .join('/')
