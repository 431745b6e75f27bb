;;; galatea.el --- Pipelines of galatea, with eglot  -*- lexical-binding: t -*-

;; (load "/path/to/editors/galatea.el") in init.el; Emacs 29 has eglot, older ones install it.

(require 'python)

(define-derived-mode galatea-mode python-mode "galatea"
  "Text of data pipelines: Python's syntax.")
(add-to-list 'auto-mode-alist '("\\.dali-dsl\\'" . galatea-mode))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(galatea-mode . ("galatea" "lsp"))))
(add-hook 'galatea-mode-hook (lambda () (when (fboundp 'eglot-ensure) (eglot-ensure))))

(provide 'galatea)
;;; galatea.el ends here
