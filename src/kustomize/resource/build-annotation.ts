const BUILD_ANNOTATION =
  /^(?:internal\.config\.kubernetes\.io\/|config\.(?:kubernetes|k8s)\.io\/(?:index|path|id)$)|^config\.kubernetes\.io\/origin$|^alpha\.config\.kubernetes\.io\/|^helm\.kustomize\./

/** Whether kustomize keeps notes of its own under this annotation, so that one who sets it steers the build itself. */
export function isBuildAnnotation(key: string): boolean {
  return BUILD_ANNOTATION.test(key)
}
