import { acme } from './acme.ts'
import type { World } from './index.ts'

const configMap = (namespace: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, namespace: ${namespace}}\ndata: {a: b}\n`

/** The same with a repository of apps that no manifest of the platform names. */
export const apps: World = {
  name: 'apps',
  repositories: [
    ...acme.repositories,
    {
      name: 'app',
      url: 'https://github.com/acme/app',
      branch: 'main',
      files: { 'deploy/app.yaml': configMap('apps'), 'bad/app.yaml': configMap('kube-system') },
    },
  ],
}
