/**
 * What differs from kustomize-controller, by the first column of the first table of docs/worker.md: how the difference reads, `-`
 * before what only kustomize-controller left and `+` before what only the worker left. A case names those that it shows.
 */
export const DIFFERENCES: Readonly<Record<string, RegExp>> = {
  'a reconciliation that changes nothing':
    /^- (event|posted) .*Reconciliation finished in D|^[-+] request patch dry-run \S+ 200( 2 times)?$/,
  '`history[].digest`': /^\+ history /,
  'what does not build':
    /^- (status|event|posted) .*(BuildFailed|ArtifactFailed)|^- status \S+ (Reconciling=True ProgressingWithRetry|lastAttemptedRevision)|^\+ status \S+ lastAttemptedRevision|^\+ (status|event|posted) .*NotApproved/,
  '`inventory` after a failed apply': /^\+ (inventory|event|posted|request delete) |^[-+] (object|manager) namespaces/,
  'an invalid CEL expression':
    /^- (status|event|posted) .*InvalidCELExpression|^[-+] status \S+ observedGeneration|^\+ (status|event|posted) .*NotApproved/,
  'messages of a refusal':
    /^[-+] (status \S+ Ready=False|event \S+ Warning|posted \S+ error) ReconciliationFailed|^- request patch dry-run \S+ 403$/,
  'messages of a health check': /^[-+] (status|event|posted) .*HealthCheckFailed/,
  'messages of a dependency': /^[-+] (status \S+ Ready=False|event \S+ Normal|posted \S+ info) DependencyNotReady/,
  'an object that is not known':
    /^\+ request patch dry-run \S+ (200|409)( 2 times)?$|^- request patch dry-run \S+ 200$/,
  // kustomize-controller cancels what it asks beside the first refusal; what it had not sent yet may be refused, too
  'the rest of a refused stage':
    /^[-+] request patch dry-run \S+ (200|201|500|504)$|^\+ request patch dry-run \S+ 403$/,
  'an object that `force` recreates':
    /^- (event|posted) .*\w created|^\+ (event|posted) .*\w configured|^[-+] request (delete|patch dry-run) /,
  'an object that moves to another Kustomization':
    /^[-+] (\w+ other |(object|manager|request) .*configmaps\/)|^- (event|posted) app .*\w deleted|^\+ inventory app /,
  'an object that pruning leaves alone': /^- (event|posted) .*\w skipped|^\+ (event|posted) .*\w deleted/,
  'a deleted Kustomization': /^- (event|posted) \S+ \S+ ReconciliationSucceeded: Reconciliation finished in D/,
  'its account is gone': /^- (object|manager|event|posted) |^\+ (event|posted|request delete) /,
}
