/** A Pod template that a Job can have, in braces. */
export const POD =
  'metadata: {labels: {app: x}}, spec: {restartPolicy: Never, containers: [{name: a, image: b, resources: {requests: {cpu: 1}}}]}'

export const meta = (name: string) => `metadata: {name: ${name}}\n`
